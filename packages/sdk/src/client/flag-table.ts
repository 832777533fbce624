// The flags of one environment, prepared for evaluation, with the counts of how each was answered.
import type { PreparedFlag } from "@halyard/core/evaluate";
import { prepare } from "@halyard/core/flags/registry";
import { type Flag, isFlag } from "../flag.ts";

/** It stays the same object while its flag changes, so that its counts do. */
export class FlagEntry {
  readonly key: string;
  flag: Flag;
  prepared: PreparedFlag;
  on = 0;
  off = 0;

  constructor(flag: Flag) {
    this.key = flag.key;
    this.flag = flag;
    this.prepared = prepare(flag);
  }
}

export interface FlagTable {
  readonly entries: ReadonlyMap<string, FlagEntry>;
  /** Puts these in the place of all; gives the keys of the flags that are not as before. */
  replace(flags: readonly unknown[]): string[];
  /** Puts one flag in, or takes it away; gives its key when it is not as before. */
  change(key: string, flag: unknown): string[];
  readonly flags: () => Flag[];
}

const isSame = (one: Flag, other: Flag): boolean => JSON.stringify(one) === JSON.stringify(other);

export const createFlagTable = (): FlagTable => {
  const entries = new Map<string, FlagEntry>();

  const put = (flag: Flag): boolean => {
    const entry = entries.get(flag.key);
    if (entry === undefined) {
      entries.set(flag.key, new FlagEntry(Object.freeze({ ...flag })));
      return true;
    }
    if (isSame(entry.flag, flag)) return false;
    entry.prepared = prepare(flag);
    entry.flag = Object.freeze({ ...flag });
    return true;
  };

  return {
    entries,
    replace(values) {
      // What this version does not understand is left out: the application's fallback holds for it.
      const flags = values.filter(isFlag);
      const kept = new Set(flags.map(({ key }) => key));
      const removed = [...entries.keys()].filter((key) => !kept.has(key));
      for (const key of removed) entries.delete(key);
      return [...removed, ...flags.filter(put).map(({ key }) => key)];
    },
    change(key, flag) {
      if (isFlag(flag) && flag.key === key) return put(flag) ? [key] : [];
      return entries.delete(key) ? [key] : [];
    },
    flags: () =>
      [...entries.values()]
        .map(({ flag }) => flag)
        .sort((one, other) => (one.key < other.key ? -1 : 1)),
  };
};
