// The response of an OFREP bulk evaluation: each flag's value for one context, and the stream that announces changes.
import { type Details, failedDetails } from "../details.ts";
import type { Counter } from "../transport/usage-report.ts";

export interface ContextValue extends Counter {
  details: Details;
}

export interface AnnouncedStream {
  readonly url: string;
  /** In milliseconds. */
  readonly inactivityDelay: number;
}

export interface BulkResponse {
  readonly values: ReadonlyMap<string, Details>;
  readonly stream: AnnouncedStream | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const reasons: readonly string[] = ["STATIC", "DISABLED", "SPLIT", "TARGETING_MATCH"];

/** A flag that is off has the reason `STATIC` over OFREP, because some providers use the program's default for `DISABLED`. */
const reasonOf = ({ reason, metadata }: Fields): unknown =>
  isFields(metadata) && metadata.reason === "DISABLED" ? metadata.reason : reason;

const errorCodes: readonly string[] = [
  "FLAG_NOT_FOUND",
  "TARGETING_KEY_MISSING",
  "PARSE_ERROR",
  "INVALID_CONTEXT",
];

const detailsOf = (item: Fields): Details => {
  const { value, variant, errorCode, errorDetails } = item;
  const reason = reasonOf(item);
  const message = typeof errorDetails === "string" ? errorDetails : "";
  if (typeof errorCode === "string") {
    const code = errorCodes.includes(errorCode) ? errorCode : "GENERAL";
    return failedDetails(false, code as NonNullable<Details["errorCode"]>, message);
  }
  if (typeof value !== "boolean") {
    return failedDetails(false, "TYPE_MISMATCH", "The flag's value is not a boolean.");
  }
  const known = typeof reason === "string" && reasons.includes(reason);
  return Object.freeze({
    value,
    ...((variant === "on" || variant === "off") && { variant }),
    reason: known ? (reason as Details["reason"]) : "UNKNOWN",
  });
};

const standardInactivity = 120;

const streamIn = (announced: unknown, base: string): AnnouncedStream | undefined => {
  if (!Array.isArray(announced)) return undefined;
  for (const entry of announced as unknown[]) {
    if (!isFields(entry) || entry.type !== "sse") continue;
    const { url, endpoint, inactivityDelaySec } = entry;
    const inactivityDelay =
      1_000 * (typeof inactivityDelaySec === "number" ? inactivityDelaySec : standardInactivity);
    if (typeof url === "string") return { url, inactivityDelay };
    if (!isFields(endpoint) || typeof endpoint.requestUri !== "string") continue;
    const { origin, requestUri } = endpoint;
    const host = typeof origin === "string" ? origin : new URL(base).origin;
    return { url: host + requestUri, inactivityDelay };
  }
  return undefined;
};

/** Undefined when it is not a bulk evaluation. */
export const parseBulkResponse = (body: unknown, base: string): BulkResponse | undefined => {
  if (!isFields(body) || !Array.isArray(body.flags)) return undefined;
  const values = new Map<string, Details>();
  for (const item of body.flags as unknown[]) {
    if (isFields(item) && typeof item.key === "string") values.set(item.key, detailsOf(item));
  }
  return { values, stream: streamIn(body.eventStreams, base) };
};
