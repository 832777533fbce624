// History entries in a short form: author, time, reason and differences.
import { difference } from "@halyard/core/difference";
import { type Flag, isFlag } from "@halyard/core/flags/registry";
import { actorText } from "@halyard/core/history/actor-text";
import type { HistoryEntry } from "@halyard/sdk/management";

type Stored = HistoryEntry["before"];

/** Replaces the lists of a segment with counts, because they contain users. */
const withoutMembers = (segment: Stored): unknown => {
  if (segment === null) return null;
  const { include, exclude, ...rest } = segment;
  const size = (list: unknown): unknown => {
    if (Array.isArray(list)) return list.length;
    const { added, removed } = (list ?? {}) as Readonly<Record<string, unknown>>;
    return {
      added: Array.isArray(added) ? added.length : 0,
      removed: Array.isArray(removed) ? removed.length : 0,
    };
  };
  return {
    ...rest,
    ...(include !== undefined && { include: size(include) }),
    ...(exclude !== undefined && { exclude: size(exclude) }),
  };
};

const changesOf = ({ subject, before, after }: HistoryEntry): Readonly<Record<string, unknown>> => {
  if (subject !== "flag") return { before: withoutMembers(before), after: withoutMembers(after) };
  return isFlag(before) && isFlag(after)
    ? { changes: difference(before as Flag, after as Flag) }
    : { before, after };
};

/** An entry about a flag or a segment. */
export const entryOf = (entry: HistoryEntry): Readonly<Record<string, unknown>> => ({
  kind: entry.subject,
  key: entry.id,
  version: entry.version,
  revision: entry.revision,
  at: entry.createdAt,
  by: actorText(entry.actor),
  ...(entry.reason !== undefined && { reason: entry.reason }),
  ...(entry.changeRequest && { changeRequest: entry.changeRequest }),
  ...(entry.bypass && {
    bypass: { by: actorText(entry.bypass.actor), reason: entry.bypass.reason },
  }),
  actions: entry.actions,
  ...changesOf(entry),
});
