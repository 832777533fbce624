// What a change carries beside its body: why it is made, and what its author has looked at. Query parameters, so that they are the same for every method.

import { maxReasonLength, reasonPattern } from "@halyard/core/reason";
import { type Static, Type } from "typebox";
import type { Caller, Principal } from "../../auth/principal.ts";
import { closedObject } from "./schemas.ts";
import { stringEnum } from "./string-enum.ts";

export const Reason = Type.String({
  pattern: reasonPattern,
  description:
    "Why: 1 to 500 characters, without control characters. Kept in history and sent in events.",
  "x-must-be": `a text of 1 to ${maxReasonLength} characters, without control characters`,
  examples: ["The provider has an incident"],
});

export const reasonQuery = closedObject({
  reason: Type.Optional(Reason),
  bypass: Type.Optional(
    stringEnum(["true"], {
      description:
        "In a protected environment: an owner makes the change without an approval; with a `reason`. It is marked as such.",
      "x-must-be": "true",
    }),
  ),
});
export type ReasonQuery = Static<typeof reasonQuery>;

const confirmation = {
  confirmFlips: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        "Where there is a limit on flips: the change is made although it is over the limit, as long as no more than so many percent flip.",
      "x-must-be": "a number of percent from 0 to 100",
      examples: [30],
    }),
  ),
};
export const confirmQuery = closedObject(confirmation);
export type ConfirmQuery = Static<typeof confirmQuery>;

/** Of every write of flags and segments. */
export const changeQuery = closedObject({ ...reasonQuery.properties, ...confirmation });
export type ChangeQuery = Static<typeof changeQuery>;

/** Who makes the change, and why. */
export const callerOf = (
  principal: Principal | Caller,
  { reason, bypass, confirmFlips }: ChangeQuery,
): Caller => ({
  ...principal,
  ...(reason !== undefined && { reason: reason.trim() }),
  ...(bypass !== undefined && { bypass: true }),
  ...(confirmFlips !== undefined && { confirmFlips }),
});

/** A body that has a reason is told where it belongs. */
export const withoutReason = <T extends object>(schema: T) => {
  const { "x-refused": refused } = schema as { "x-refused"?: Readonly<Record<string, string>> };
  const reason = "is no field of the body; send it as a query parameter: ?reason=…";
  return { ...schema, "x-refused": { ...refused, reason } };
};
