// Preconditions of a write: the versions that an If-Match header names.
import { fail, ok, type Result } from "./errors.ts";

/** `undefined` requires nothing, `"*"` that it exists, a list that its version is one of these. */
export type Precondition = undefined | "*" | readonly string[];

/** `what` names it in a sentence, `body` is what it is now. */
export const checkPrecondition = (
  what: string,
  version: number,
  body: unknown,
  precondition: Precondition,
): Result<void> => {
  if (precondition === undefined || precondition === "*") return ok(undefined);
  if (precondition.includes(String(version))) return ok(undefined);
  return fail({
    code: "PRECONDITION_FAILED",
    message: `${what} is at version ${version}, which If-Match does not name; look at it and try again.`,
    current: { body, version },
  });
};
