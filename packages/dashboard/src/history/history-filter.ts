// Which changes the history shows, kept in the address so that links show the same.
import type { HistoryEntry, HistoryQuery } from "@halyard/sdk/management";

export const kinds = [
  "flag",
  "segment",
  "webhook",
  "key",
  "user",
  "environment",
  "change-request",
] as const;
export type HistoryKind = HistoryEntry["subject"];
export const kindLabels: Readonly<Record<HistoryKind, string>> = {
  flag: "Flags",
  segment: "Segments",
  webhook: "Webhooks",
  key: "Keys",
  user: "People",
  environment: "Environments",
  "change-request": "Change requests",
};

export const ranges = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 } as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as Range[];

export interface HistoryFilter {
  readonly kind: HistoryKind | undefined;
  /** Partial text, ignoring case; an empty filter matches everything. */
  readonly text: string;
  readonly who: string;
  readonly tag: string;
  readonly owner: string;
  /** From links: exactly this key or id of one thing; empty for all. Belongs to a kind. */
  readonly key: string;
  /** From links: exactly this name or id of an API key or a person; empty for all. */
  readonly actor: string;
  /** The last hour, day or week; undefined for `from` and `to`. */
  readonly range: Range | undefined;
  /** ISO 8601; empty for any. */
  readonly from: string;
  readonly to: string;
  readonly onlyDeleted: boolean;
}

/** What is no time is left out: a link may have been typed. */
const timeOf = (text: string | null): string => {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
};

/** The query parameters of the API. */
export const longestText = { q: 200, who: 256, tag: 64, owner: 128 } as const;

const textOf = (parameters: URLSearchParams, name: keyof typeof longestText): string =>
  (parameters.get(name) ?? "").trim().slice(0, longestText[name]);

/** Only flags have tags and owners. */
export const hasLabels = (kind: HistoryKind | undefined): boolean =>
  kind === undefined || kind === "flag";

export const historyFilterFrom = (parameters: URLSearchParams): HistoryFilter => {
  const key = parameters.get("key") ?? "";
  const kind = kinds.find((each) => each === parameters.get("kind"));
  const range = rangeNames.find((each) => each === parameters.get("range"));
  const known = kind ?? (key === "" ? undefined : "flag");
  const ofFlags = (name: "tag" | "owner") => (hasLabels(known) ? textOf(parameters, name) : "");
  return {
    kind: known,
    text: textOf(parameters, "q"),
    who: textOf(parameters, "who"),
    tag: ofFlags("tag"),
    owner: ofFlags("owner"),
    key,
    actor: parameters.get("actor") ?? "",
    range,
    from: range === undefined ? timeOf(parameters.get("from")) : "",
    to: range === undefined ? timeOf(parameters.get("to")) : "",
    onlyDeleted: parameters.get("deleted") === "1",
  };
};

export const historyParameters = (filter: Partial<HistoryFilter>): URLSearchParams =>
  new URLSearchParams([
    ...(filter.kind === undefined ? [] : [["kind", filter.kind]]),
    ...(filter.text ? [["q", filter.text]] : []),
    ...(filter.who ? [["who", filter.who]] : []),
    ...(filter.tag ? [["tag", filter.tag]] : []),
    ...(filter.owner ? [["owner", filter.owner]] : []),
    ...(filter.key ? [["key", filter.key]] : []),
    ...(filter.actor ? [["actor", filter.actor]] : []),
    ...(filter.range === undefined ? [] : [["range", filter.range]]),
    ...(filter.from ? [["from", filter.from]] : []),
    ...(filter.to ? [["to", filter.to]] : []),
    ...(filter.onlyDeleted ? [["deleted", "1"]] : []),
  ]);

export const addressOfHistory = (filter: Partial<HistoryFilter>): string => {
  const parameters = historyParameters(filter).toString();
  return parameters === "" ? "/history" : `/history?${parameters}`;
};

/** Where the flags that were deleted are found. */
export const addressOfDeletedFlags = addressOfHistory({ kind: "flag", onlyDeleted: true });

export const isFiltered = (filter: HistoryFilter): boolean =>
  historyParameters(filter).toString() !== "";

/** Whether a page ended before the whole history was searched. */
export const isSearch = ({ text, who, tag, owner }: HistoryFilter): boolean =>
  [text, who, tag, owner].some((part) => part !== "");

export const queryOf = (filter: HistoryFilter, now: number): HistoryQuery => {
  const { kind, text, who, tag, owner, key, actor, range, from, to, onlyDeleted } = filter;
  const since = range === undefined ? from : new Date(now - ranges[range]).toISOString();
  return {
    ...(kind !== undefined && { subject: kind }),
    ...(kind !== undefined && key !== "" && { id: key }),
    ...(text !== "" && { q: text }),
    ...(who !== "" && { who }),
    ...(tag !== "" && { tag }),
    ...(owner !== "" && { owner }),
    ...(actor !== "" && { actor }),
    ...(since !== "" && { since }),
    ...(to !== "" && { until: to }),
    ...(onlyDeleted && { deleted: true }),
  };
};

/** The text of an input of a local time, from a time and back. */
export const localOf = (time: string): string => {
  if (time === "") return "";
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
export const timeOfLocal = (text: string): string => (text === "" ? "" : timeOf(text));
