// The latest changes of an environment, for streams that reconnect: bounded in number and in memory.
import type { Revision } from "../writes/change.ts";

/** How many changes are kept at least, unless they are large. */
export const maxRecent = 1_000;

/** How much they may be together, in characters of JSON. A segment of 100,000 members is loaded with a fraction of it. */
export const maxRecentLength = 16 * 2 ** 20;

/** Names a revision uniquely: after a restored backup, the same number has another time. */
export const revisionName = (revision: number, at: Date | null): string =>
  `${revision}-${(at?.getTime() ?? 0).toString(36)}`;

/** The number in a revision's name; 0 when it is not one. */
export const revisionNumber = (name: string): number =>
  Number(/^(\d{1,15})-[0-9a-z]{1,11}$/.exec(name)?.[1] ?? 0);

export interface RecentChanges {
  add(change: Revision): void;
  /** The changes since the revision of this name; undefined when it is not known or too long ago. */
  since(name: string): readonly Revision[] | undefined;
  /** Begins anew after the revision of this name. */
  clear(name: string): void;
}

export const createRecentChanges = (): RecentChanges => {
  let changes: Revision[] = [];
  /** Of each change. */
  let lengths: number[] = [];
  let total = 0;
  /** The name of the revision before the first of them. */
  let after = "";

  const drop = (count: number) => {
    const last = changes.splice(0, count).at(-1);
    for (const length of lengths.splice(0, count)) total -= length;
    if (last) after = revisionName(last.revision, last.at);
  };

  return {
    add(change) {
      const { length } = JSON.stringify(change.value);
      changes.push(change);
      lengths.push(length);
      total += length;
      // Many at once, so that it is seldom done.
      if (changes.length > maxRecent * 1.5) drop(changes.length - maxRecent);
      if (total <= maxRecentLength) return;
      let rest = total;
      drop(
        lengths.findIndex((each) => {
          rest -= each;
          return rest <= maxRecentLength / 2;
        }) + 1,
      );
    },

    since(name) {
      if (name === after) return changes;
      // Revisions have no gaps, so the number says where it is.
      const index = revisionNumber(name) - (changes[0]?.revision ?? 0);
      const change = changes[index];
      return change && revisionName(change.revision, change.at) === name
        ? changes.slice(index + 1)
        : undefined;
    },

    clear(name) {
      changes = [];
      lengths = [];
      total = 0;
      after = name;
    },
  };
};
