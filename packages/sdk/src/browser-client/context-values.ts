// Parses the response of an OFREP bulk evaluation: the values for one context, and the stream that announces changes.
import type { FlagValue, Reason } from "@halyard/core/evaluate";
import { type Details, type FlagMetadata, failedDetails } from "../details.ts";

export interface AnnouncedStream {
  readonly url: string;
  /** In milliseconds. */
  readonly inactivityDelay: number;
}

/** The value of one flag. */
export interface ContextValue {
  /** With an `errorCode`, the value is meaningless, and the fallback applies. */
  readonly details: Details<FlagValue>;
  /** Undefined unless the server sends it. */
  readonly metadata: FlagMetadata | undefined;
}

export interface BulkResponse {
  readonly values: ReadonlyMap<string, ContextValue>;
  readonly stream: AnnouncedStream | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
/** The fields of an object; anything else has none. */
const fieldsOf = (value: unknown): Fields => Object(value) as Fields;

const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as unknown[]).map(fieldsOf) : [];

const knownNames = [
  ...([
    "STATIC",
    "DISABLED",
    "SPLIT",
    "TARGETING_MATCH",
    "DEFAULT",
    "PREREQUISITE_FAILED",
  ] as const),
  ...(["TARGETING_KEY_MISSING", "PARSE_ERROR", "INVALID_CONTEXT"] as const),
] satisfies readonly (Reason | Details["errorCode"])[];

/** The first reason or error code that this version knows. */
const known = (...names: readonly unknown[]): string | undefined =>
  knownNames.find((name) => names.includes(name));

const detailsOf = (item: Fields): Details<FlagValue> => {
  const { value = null, variant, reason, errorCode, errorDetails } = item;
  if (errorCode) {
    const code = (known(errorCode) ?? "GENERAL") as NonNullable<Details["errorCode"]>;
    return failedDetails(false, code, (errorDetails ?? "") as string);
  }
  if (value === null || Array.isArray(value)) {
    return failedDetails(false, "TYPE_MISMATCH", "The flag has an unknown type.");
  }
  const { reason: own, rule } = fieldsOf(item.metadata);
  return {
    value,
    ...(variant ? { variant } : {}),
    // Over OFREP the server sends only the protocol's reasons, and its own in the metadata.
    reason: known(own) ?? known(reason) ?? "UNKNOWN",
    ...(rule ? { rule } : {}),
  } as Details<FlagValue>;
};

const standardInactivity = 120;

const streamIn = (announced: unknown, base: string): AnnouncedStream | undefined => {
  for (const { type, url, endpoint, inactivityDelaySec } of listOf(announced)) {
    const { origin = base, requestUri } = fieldsOf(endpoint);
    const location = url ?? requestUri;
    if (type !== "sse" || !location) continue;
    return {
      url: new URL(location as string, origin as string).href,
      inactivityDelay: 1_000 * (Number(inactivityDelaySec) || standardInactivity),
    };
  }
  return undefined;
};

/** Undefined when it is not a bulk evaluation. */
export const parseBulkResponse = (body: unknown, base: string): BulkResponse | undefined => {
  const { flags, eventStreams } = fieldsOf(body);
  if (!Array.isArray(flags)) return undefined;
  const values = new Map<string, ContextValue>();
  for (const item of listOf(flags)) {
    const { key } = item;
    const { version, flagSetId } = fieldsOf(item.metadata);
    const metadata = version && flagSetId ? ({ version, flagSetId } as FlagMetadata) : undefined;
    if (typeof key === "string") values.set(key, { details: detailsOf(item), metadata });
  }
  return { values, stream: streamIn(eventStreams, base) };
};
