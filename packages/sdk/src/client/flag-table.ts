// The flags of one environment, prepared for evaluation, with counts of their results.
import { type PreparedFlag, unknownFlag } from "@halyard/core/evaluate";
import { type Flag, isFlag, prepare } from "@halyard/core/flags/registry";

/** A flag with its level. From a newer server, it may have a type or members that this version does not know. */
export type LeveledFlag = Flag & { readonly level?: number };

/** The object stays the same when its flag changes, so that no counts are lost. */
export class FlagEntry {
  readonly key: string;
  flag: LeveledFlag;
  prepared: PreparedFlag;
  on = 0;
  off = 0;

  constructor(flag: LeveledFlag) {
    this.key = flag.key;
    this.flag = flag;
    this.prepared = prepareFlag(flag);
  }
}

export interface FlagTable {
  readonly entries: ReadonlyMap<string, FlagEntry>;
  /** Replaces all flags. Returns the keys of those that differ from before. */
  replace(flags: readonly unknown[]): string[];
  /** Adds, changes or removes one flag. Returns its key when it differs from before. */
  change(key: string, flag: LeveledFlag | null): string[];
  /** Sorted by key. */
  readonly flags: () => LeveledFlag[];
}

const prepareFlag = (flag: LeveledFlag): PreparedFlag =>
  isFlag(flag) ? prepare(flag, flag.level) : unknownFlag;

/** Flags that cannot be evaluated exist too, so nothing more is required. */
const hasKey = (value: unknown): value is LeveledFlag =>
  typeof value === "object" && value !== null && "key" in value && typeof value.key === "string";

const isSame = (one: Flag, other: Flag): boolean => JSON.stringify(one) === JSON.stringify(other);

export const createFlagTable = (): FlagTable => {
  const entries = new Map<string, FlagEntry>();

  const put = (flag: LeveledFlag): boolean => {
    const entry = entries.get(flag.key);
    if (entry === undefined) {
      entries.set(flag.key, new FlagEntry(Object.freeze({ ...flag })));
      return true;
    }
    if (isSame(entry.flag, flag)) return false;
    entry.prepared = prepareFlag(flag);
    entry.flag = Object.freeze({ ...flag });
    return true;
  };

  return {
    entries,
    replace(values) {
      const flags = values.filter(hasKey);
      const kept = new Set(flags.map(({ key }) => key));
      const removed = [...entries.keys()].filter((key) => !kept.has(key));
      for (const key of removed) entries.delete(key);
      return [...removed, ...flags.filter(put).map(({ key }) => key)];
    },
    change(key, flag) {
      const isChanged = flag === null ? entries.delete(key) : put(flag);
      return isChanged ? [key] : [];
    },
    flags: () =>
      [...entries.values()]
        .map(({ flag }) => flag)
        .sort((one, other) => (one.key < other.key ? -1 : 1)),
  };
};
