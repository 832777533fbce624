// Which flags the list shows, and in which order.
import { type FlagTypeName, flagTypeNames, reachOf } from "@halyard/core/flags/registry";
import type { UsageSummary } from "@halyard/sdk/management";
import type { LiveFlag } from "../../live.ts";

export interface FlagFilter {
  readonly text: string;
  readonly type: "all" | FlagTypeName;
  readonly state: "all" | "on" | "off";
  /** Empty for any. */
  readonly tag: string;
  readonly owner: string;
  readonly onlyStale: boolean;
  readonly sort: "key" | "reach" | "changed" | "evaluations" | "idle";
}

const sorts: readonly FlagFilter["sort"][] = ["reach", "changed", "evaluations", "idle"];

export type UsageByKey = ReadonlyMap<string, UsageSummary>;

/** As the server judges it; false while the usage is not known. */
export const isStale = (usage: UsageByKey | undefined, key: string): boolean =>
  usage?.get(key)?.stale ?? false;

/** What the filter means, for those who use it. */
export const staleMeans =
  "Stale: neither evaluated, nor requested with all other flags, nor changed in 30 days.";

const oneOf = <Value extends string>(
  value: string | null,
  allowed: readonly Value[],
  otherwise: Value,
): Value => allowed.find((each) => each === value) ?? otherwise;

export const filterFrom = (parameters: URLSearchParams): FlagFilter => ({
  text: parameters.get("q") ?? "",
  type: oneOf<FlagFilter["type"]>(parameters.get("type"), flagTypeNames, "all"),
  state: oneOf<FlagFilter["state"]>(parameters.get("state"), ["on", "off"], "all"),
  tag: parameters.get("tag") ?? "",
  owner: parameters.get("owner") ?? "",
  onlyStale: parameters.get("stale") === "1",
  sort: oneOf(parameters.get("sort"), sorts, "key"),
});

/** Only what differs from the default, so that the address stays short. */
export const parametersFrom = (filter: FlagFilter): URLSearchParams =>
  new URLSearchParams([
    ...(filter.text === "" ? [] : [["q", filter.text]]),
    ...(filter.type === "all" ? [] : [["type", filter.type]]),
    ...(filter.state === "all" ? [] : [["state", filter.state]]),
    ...(filter.tag === "" ? [] : [["tag", filter.tag]]),
    ...(filter.owner === "" ? [] : [["owner", filter.owner]]),
    ...(filter.onlyStale ? [["stale", "1"]] : []),
    ...(filter.sort === "key" ? [] : [["sort", filter.sort]]),
  ]);

/** The filter of the list when it was left, for the way back, also after a reload. */
const storageKey = "halyard-flag-filter";
export const rememberFilter = (filter: FlagFilter): void =>
  sessionStorage.setItem(storageKey, parametersFrom(filter).toString());
export const addressOfList = (): string => {
  const parameters = sessionStorage.getItem(storageKey) ?? "";
  return parameters === "" ? "/flags" : `/flags?${parameters}`;
};

/** Every word is somewhere in the key or the description, in any order. */
const matches = ({ flag }: LiveFlag, words: readonly string[]): boolean => {
  if (words.length === 0) return true;
  const text = `${flag.key} ${flag.description ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Of times in ISO 8601; what is equal stays in the order of the keys. */
const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

const countOf = (usage: UsageByKey | undefined, { flag }: LiveFlag): number => {
  const found = usage?.get(flag.key);
  return found === undefined ? 0 : found.on + found.off;
};
const lastOf = (usage: UsageByKey | undefined, { flag }: LiveFlag): string =>
  usage?.get(flag.key)?.lastEvaluatedAt ?? "";
const changedOf = (usage: UsageByKey | undefined, { flag }: LiveFlag): string =>
  usage?.get(flag.key)?.lastChange?.at ?? "";

export const shownFlags = (
  flags: readonly LiveFlag[],
  filter: FlagFilter,
  usage: UsageByKey | undefined,
): readonly LiveFlag[] => {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = flags.filter(
    (entry) =>
      (filter.type === "all" || entry.flag.type === filter.type) &&
      (filter.state === "all" || entry.flag.enabled === (filter.state === "on")) &&
      (filter.tag === "" || entry.flag.tags?.includes(filter.tag) === true) &&
      (filter.owner === "" || entry.flag.owner === filter.owner) &&
      matches(entry, words) &&
      (!filter.onlyStale || isStale(usage, entry.flag.key)),
  );
  switch (filter.sort) {
    case "key":
      return shown;
    case "reach":
      return shown.sort((a, b) => reachOf(b.flag) - reachOf(a.flag));
    case "changed":
      return shown.sort((a, b) => compare(changedOf(usage, b), changedOf(usage, a)));
    case "evaluations":
      return shown.sort((a, b) => countOf(usage, b) - countOf(usage, a));
    case "idle":
      return shown.sort((a, b) => compare(lastOf(usage, a), lastOf(usage, b)));
  }
};
