// The response of an OFREP bulk evaluation: each flag's value for one context, and the stream that announces changes.
import type { FlagValue, Reason } from "@halyard/core/evaluate";
import { type Details, type FlagMetadata, failedDetails } from "../details.ts";
import type { Counter } from "../transport/usage-report.ts";

/** With an error, the value says nothing: the fallback applies. */
export interface ContextValue extends Counter {
  details: Details<FlagValue>;
}

export interface AnnouncedStream {
  readonly url: string;
  /** In milliseconds. */
  readonly inactivityDelay: number;
}

export interface BulkResponse {
  readonly values: ReadonlyMap<string, Details<FlagValue>>;
  /** Of the flags whose version the server tells. */
  readonly metadata: ReadonlyMap<string, FlagMetadata>;
  readonly stream: AnnouncedStream | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const reasons: readonly string[] = [
  "STATIC",
  "DISABLED",
  "SPLIT",
  "TARGETING_MATCH",
  "DEFAULT",
  "PREREQUISITE_FAILED",
] satisfies readonly Reason[];
const isReason = (name: unknown): name is Reason =>
  typeof name === "string" && reasons.includes(name);

/** Over OFREP the server sends only the protocol's reasons, and its own in the metadata. */
const reasonOf = (reason: unknown, own: unknown): Details["reason"] => {
  if (isReason(own)) return own;
  return isReason(reason) ? reason : "UNKNOWN";
};

const errorCodes: readonly string[] = [
  "FLAG_NOT_FOUND",
  "TARGETING_KEY_MISSING",
  "PARSE_ERROR",
  "INVALID_CONTEXT",
];

const isValue = (value: unknown): value is FlagValue =>
  ["boolean", "string", "number"].includes(typeof value) ||
  (isFields(value) && !Array.isArray(value));

const detailsOf = (item: Fields): Details<FlagValue> => {
  const { value, variant, reason, errorCode, errorDetails } = item;
  const metadata = isFields(item.metadata) ? item.metadata : {};
  const message = typeof errorDetails === "string" ? errorDetails : "";
  if (typeof errorCode === "string") {
    const code = errorCodes.includes(errorCode) ? errorCode : "GENERAL";
    return failedDetails(false, code as NonNullable<Details["errorCode"]>, message);
  }
  if (!isValue(value)) {
    return failedDetails(false, "TYPE_MISMATCH", "The flag's value is of no type that flags have.");
  }
  return {
    value,
    ...(typeof variant === "string" && { variant }),
    reason: reasonOf(reason, metadata.reason),
    ...(typeof metadata.rule === "string" && { rule: metadata.rule }),
  };
};

const metadataOf = ({ metadata }: Fields): FlagMetadata | undefined => {
  if (!isFields(metadata)) return undefined;
  const { version, flagSetId } = metadata;
  return typeof version === "string" && typeof flagSetId === "string"
    ? { version, flagSetId }
    : undefined;
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
  const values = new Map<string, Details<FlagValue>>();
  const metadata = new Map<string, FlagMetadata>();
  for (const item of body.flags as unknown[]) {
    if (!isFields(item) || typeof item.key !== "string") continue;
    values.set(item.key, detailsOf(item));
    const told = metadataOf(item);
    if (told !== undefined) metadata.set(item.key, told);
  }
  return { values, metadata, stream: streamIn(body.eventStreams, base) };
};
