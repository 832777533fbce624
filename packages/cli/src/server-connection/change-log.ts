// Every change of a flag once and in order, from the stream and the history.
import { difference } from "@halyard/core/difference";
import type { Actor, Flag, FlagEventName, HistoryEntry } from "@halyard/sdk";
import type { EnvironmentChange, EnvironmentSnapshot } from "@halyard/sdk/follow-environment";
import { type Connection, failureOf } from "./connection.ts";

export interface LoggedChange {
  readonly key: string;
  readonly version: number;
  readonly createdAt: string;
  readonly events: readonly FlagEventName[];
  /** Null when the history no longer has the change. */
  readonly actor: Actor | null;
  readonly before: Flag | null;
  readonly after: Flag | null;
}

export interface ChangeLog {
  /** Takes a snapshot; returns the changes since the last one, and how many of them are unknown. */
  takeSnapshot(
    snapshot: EnvironmentSnapshot,
  ): Promise<{ readonly changes: readonly LoggedChange[]; readonly omitted: number }>;
  /** Returns the changes that were not returned before. */
  takeChanges(changes: readonly EnvironmentChange[]): Promise<readonly LoggedChange[]>;
  /** All changes since a time, from the history. */
  since(time: Date): Promise<readonly LoggedChange[]>;
}

/** The clocks of several servers differ by less. */
const skew = 60_000;
const largestPage = 1_000;

const logged = (entry: HistoryEntry): LoggedChange => ({
  key: entry.id,
  version: entry.version ?? 0,
  createdAt: entry.createdAt,
  events: entry.actions as readonly FlagEventName[],
  actor: entry.actor,
  before: entry.before as Flag | null,
  after: entry.after as Flag | null,
});

const eventsOf = (before: Flag | null, after: Flag | null): readonly FlagEventName[] => {
  if (after === null) return ["flag.deleted"];
  if (before === null) return ["flag.created"];
  const names: FlagEventName[] = [];
  if (before.enabled !== after.enabled)
    names.push(after.enabled ? "flag.enabled" : "flag.disabled");
  const others = difference(before, after).filter(({ member }) => member !== "enabled");
  if (others.length > 0 || names.length === 0) names.push("flag.updated");
  return names;
};

export const createChangeLog = (connection: Connection): ChangeLog => {
  /** Also deleted flags: their versions continue when they are created again. */
  const known = new Map<string, { readonly version: number; readonly flag: Flag | null }>();
  let last: { readonly revision: number; readonly at: number } | undefined;

  const isReported = (key: string, version: number) => version <= (known.get(key)?.version ?? 0);
  const remember = (key: string, version: number, flag: Flag | null) => {
    if (!isReported(key, version)) known.set(key, { version, flag });
  };
  const reportAll = (changes: readonly LoggedChange[]): readonly LoggedChange[] => {
    for (const { key, version, after } of changes) remember(key, version, after);
    return changes;
  };

  /** Newest first, as far back as requested. */
  const readHistory = async (
    limit: number,
    isFarEnough: (entry: HistoryEntry) => boolean,
  ): Promise<HistoryEntry[]> => {
    const entries: HistoryEntry[] = [];
    for await (const page of connection.management.historyPages({ subject: "flag", limit })) {
      if (!page.ok) throw failureOf(connection, page.error);
      entries.push(...page.value);
      const oldest = page.value.at(-1);
      if (oldest === undefined || isFarEnough(oldest)) break;
    }
    return entries;
  };

  const derived = ({ key, version, at, value: after }: EnvironmentChange): LoggedChange => {
    const before = known.get(key)?.flag ?? null;
    const events = eventsOf(before, after);
    return { key, version, createdAt: at, events, actor: null, before, after };
  };

  /** The changes that were missed since `from`; `missed` is their number. */
  const missedOf = async (missed: number, from: number) => {
    const entries = await readHistory(
      largestPage,
      ({ createdAt }) => Date.parse(createdAt) < from - skew,
    );
    const isNew = ({ id, version, createdAt }: HistoryEntry) =>
      known.has(id) ? !isReported(id, version ?? 0) : Date.parse(createdAt) > from;
    const chosen = new Set(entries.filter(isNew));
    // Of unknown flags, changes within the same millisecond or by a clock that is behind are chosen by their number.
    const doubtful = entries.filter((entry) => !known.has(entry.id) && !chosen.has(entry));
    for (const entry of doubtful.slice(0, Math.max(0, missed - chosen.size))) chosen.add(entry);
    return entries
      .filter((entry) => chosen.has(entry))
      .reverse()
      .map(logged);
  };

  return {
    async takeSnapshot(snapshot) {
      const missed = last === undefined ? 0 : snapshot.revision - last.revision;
      const changes = last !== undefined && missed > 0 ? await missedOf(missed, last.at) : [];
      // A lower revision than before: the database was restored, so known versions are void.
      if (missed < 0) known.clear();
      last = { revision: snapshot.revision, at: Date.parse(snapshot.at ?? "") || 0 };
      reportAll(changes);
      for (const { key, version, value } of snapshot.entries) remember(key, version, value);
      return { changes, omitted: Math.max(0, missed - changes.length) };
    },

    async takeChanges(changes) {
      const fresh = changes.filter(({ key, version }) => !isReported(key, version));
      const newest = changes.at(-1);
      if (newest) last = { revision: newest.revision, at: Date.parse(newest.at) };
      if (fresh.length === 0) return [];
      const entries = await readHistory(Math.min(largestPage, 2 * fresh.length + 50), () => true);
      const byName = new Map(entries.map((entry) => [`${entry.id} ${entry.version}`, entry]));
      return fresh.flatMap((change) => {
        const entry = byName.get(`${change.key} ${change.version}`);
        return reportAll([entry ? logged(entry) : derived(change)]);
      });
    },

    async since(time) {
      const from = time.getTime();
      const isBefore = ({ createdAt }: HistoryEntry) => Date.parse(createdAt) < from;
      const entries = await readHistory(largestPage, isBefore);
      return reportAll(
        entries
          .filter((entry) => !isBefore(entry))
          .reverse()
          .map(logged),
      );
    },
  };
};
