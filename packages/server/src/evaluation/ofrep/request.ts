// What an evaluation asks: for whom, and what the client has already heard of.
import { isUtf8 } from "node:buffer";
import type { EvaluationContext } from "@halyard/core/context";
import { longestText } from "@halyard/core/targeting/conditions/texts";
import { holdsTooMuch, tooMuch } from "../../platform/http/errors/json-body.ts";
import type { Snapshot } from "../snapshot.ts";

/** An error with a code of the protocol. */
export interface ProtocolError {
  readonly errorCode: "PARSE_ERROR" | "INVALID_CONTEXT" | "TARGETING_KEY_MISSING";
  readonly errorDetails: string;
}

export type Asked =
  | { readonly ok: true; readonly context: EvaluationContext }
  | { readonly ok: false; readonly error: ProtocolError };

const refuse = (errorCode: ProtocolError["errorCode"], errorDetails: string): Asked => ({
  ok: false,
  error: { errorCode, errorDetails },
});

const example = '{"context":{"targetingKey":"user-123"}}';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Read as the protocol's other servers do, not as strictly as a change: nothing is kept, and a client may be newer than
 * this server. The protocol demands a targetingKey of everyone; here only a flag that needs one does.
 */
export const parseEvaluationRequest = (body: Buffer | undefined): Asked => {
  if (body === undefined || body.length === 0) {
    return refuse("PARSE_ERROR", `The body is empty; send JSON such as ${example}.`);
  }
  const text = body.toString();
  // What cannot be decoded becomes this character, so that nearly every body needs no closer look.
  if (text.includes("\ufffd") && !isUtf8(body)) {
    return refuse("PARSE_ERROR", "The body is not valid UTF-8.");
  }
  if (holdsTooMuch(text)) return refuse("INVALID_CONTEXT", tooMuch);
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return refuse("PARSE_ERROR", `The body is not valid JSON: ${reason}.`);
  }
  const context = isObject(value) ? value.context : undefined;
  if (!isObject(context)) {
    return refuse("INVALID_CONTEXT", `The body must hold a context, such as ${example}.`);
  }
  const { targetingKey } = context;
  // It is hashed for each flag.
  if (typeof targetingKey === "string" && targetingKey.length > longestText) {
    return refuse(
      "INVALID_CONTEXT",
      `The targetingKey of the context must have at most ${longestText.toLocaleString("en")} characters.`,
    );
  }
  // Some languages write null for what is not there; the evaluator takes it as missing.
  return targetingKey === undefined || targetingKey === null || typeof targetingKey === "string"
    ? { ok: true, context: context as EvaluationContext }
    : refuse("INVALID_CONTEXT", "The targetingKey of the context must be a string.");
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Seconds since 1970, or ISO 8601; NaN when it is neither. */
const timeOf = (text: string): number =>
  /^\d{1,12}$/.test(text)
    ? Number(text) * 1_000
    : /^\d{4}-\d\d-\d\dT/.test(text)
      ? Date.parse(text)
      : Number.NaN;

/** Whether the client was told of a change that this snapshot has not seen. What cannot be read is passed over. */
export const clientIsNewer = (
  query: Readonly<Record<string, unknown>>,
  snapshot: Snapshot | undefined,
): boolean => {
  if (!snapshot) return false;
  const name = textOf(query.flagConfigEtag);
  const revision = Number(/^(\d{1,15})-[0-9a-z]{1,11}$/.exec(name)?.[1] ?? Number.NaN);
  // The same number under another name is another history: the store was put back.
  if (name !== snapshot.name && revision >= snapshot.revision) return true;
  return timeOf(textOf(query.flagConfigLastModified)) > (snapshot.changedAt?.getTime() ?? 0);
};
