// The programs that follow this instance, in memory: who has a stream, who polls, and which revision each has applied.

import type { Clock } from "../../platform/database/store.ts";
import { revisionNumber } from "../recent-changes.ts";
import { disconnectTimeout, silentAfter } from "./limits.ts";
import type { ClientConnection, ClientReport, KnownClient } from "./report.ts";

/** A key can invent clients without a stream at no cost, so each key and the process have a limit. Streams have their own limits. */
const maxOfKey = 1_000;
const maxWithoutStream = 20_000;
/** A client that only reports here, or polled and stopped, is forgotten after so long without a request. */
const forgottenAfter = 600_000;

export interface ClientHolder {
  readonly environmentId: number;
  readonly keyId: string;
}

export interface EnvironmentClients {
  readonly notified: number;
  readonly clients: readonly KnownClient[];
}

export interface Clients {
  /** Of a stream that begins; returns what to call when it has ended. Without an id, nobody knows what becomes of a change there. */
  streams(holder: ClientHolder, id: string | undefined): () => void;
  polls(holder: ClientHolder, id: string): void;
  /** `isBeside` when it came with something else: a client that also reports by itself may have overtaken it. */
  reports(holder: ClientHolder, report: ClientReport, isBeside?: boolean): void;
  leaves(holder: ClientHolder, id: string): void;
  /** Forgets the clients of keys that are no longer valid. */
  readonly endOf: (keyIds: ReadonlySet<string>) => void;
  /** Who is gone. */
  readonly forget: () => void;
  /** By environment, of those that have any. */
  all(): ReadonlyMap<number, EnvironmentClients>;
  /** Called when a client came, went or applied another revision. */
  onChange(listener: () => void): void;
}

interface Entry {
  readonly holder: ClientHolder;
  readonly id: string;
  readonly since: number;
  streams: number;
  connection: ClientConnection | null;
  name: string;
  sdk: string;
  revision: string;
  appliedAt: number | null;
  /** It has told what it has applied in a report of its own. */
  hasReported: boolean;
  endedAt: number | null;
  closed: boolean;
  seenAt: number;
}

/** What a client is called that has told no name yet. */
const unnamed = { name: "", sdk: "", revision: "" };

export const createClients = (clock: Clock): Clients => {
  /** By key and id, the ones seen last at the end. */
  const entries = new Map<string, Entry>();
  const notified = new Map<number, number>();
  const withoutStream = {
    keys: new Map<string, number>(),
    environments: new Map<number, number>(),
  };
  let allWithoutStream = 0;
  let changed = () => {};

  const nameOf = (keyId: string, id: string): string => `${keyId} ${id}`;

  const add = <Name>(counts: Map<Name, number>, name: Name, number: 1 | -1): void => {
    const count = (counts.get(name) ?? 0) + number;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  };

  const countWithoutStream = ({ keyId, environmentId }: ClientHolder, number: 1 | -1): void => {
    allWithoutStream += number;
    add(withoutStream.keys, keyId, number);
    add(withoutStream.environments, environmentId, number);
  };

  const remove = (name: string, entry: Entry): void => {
    entries.delete(name);
    if (entry.streams === 0) countWithoutStream(entry.holder, -1);
  };

  const removeOldest = (isOfHolder: (holder: ClientHolder) => boolean): void => {
    for (const [name, entry] of entries) {
      if (entry.streams > 0 || !isOfHolder(entry.holder)) continue;
      remove(name, entry);
      return;
    }
  };

  /** The environment with the most clients loses its oldest, so that it can't take the places of the others. */
  const removeFromLargest = (): void => {
    const [largest] = [...withoutStream.environments].reduce((one, other) =>
      other[1] > one[1] ? other : one,
    );
    removeOldest(({ environmentId }) => environmentId === largest);
  };

  const entryOf = (holder: ClientHolder, id: string, hasStream: boolean): Entry => {
    const { keyId } = holder;
    const now = clock().getTime();
    const name = nameOf(keyId, id);
    const known = entries.get(name);
    if (known) {
      known.seenAt = now;
      entries.delete(name);
      entries.set(name, known);
      return known;
    }
    if (!hasStream && (withoutStream.keys.get(keyId) ?? 0) >= maxOfKey) {
      removeOldest((other) => other.keyId === keyId);
    }
    if (!hasStream && allWithoutStream >= maxWithoutStream) removeFromLargest();
    const entry: Entry = {
      ...{ holder, id, since: now, seenAt: now, streams: 0, connection: null, ...unnamed },
      ...{ appliedAt: null, hasReported: false, endedAt: null, closed: false },
    };
    entries.set(name, entry);
    countWithoutStream(holder, 1);
    changed();
    return entry;
  };

  const isGone = ({ streams, connection, endedAt, seenAt }: Entry, now: number): boolean => {
    if (streams > 0) return false;
    if (endedAt !== null && connection === null && now - endedAt >= disconnectTimeout) return true;
    return now - seenAt >= (connection === "poll" ? forgottenAfter : silentAfter);
  };

  const endStream = (entry: Entry): void => {
    entry.streams -= 1;
    if (entry.streams > 0) return;
    entry.connection = null;
    entry.endedAt = clock().getTime();
    // It may have been forgotten meanwhile, with its key.
    if (entries.get(nameOf(entry.holder.keyId, entry.id)) !== entry) return;
    countWithoutStream(entry.holder, 1);
    changed();
  };

  const tell = (environmentId: number, number: 1 | -1): void => {
    add(notified, environmentId, number);
    changed();
  };

  /** Called at most once. */
  const once = (work: () => void): (() => void) => {
    let isDone = false;
    return () => {
      if (!isDone) work();
      isDone = true;
    };
  };

  const forget = (): void => {
    const now = clock().getTime();
    for (const [name, entry] of entries) if (isGone(entry, now)) remove(name, entry);
  };

  return {
    forget,

    streams(holder, id) {
      if (id === undefined) {
        tell(holder.environmentId, 1);
        return once(() => tell(holder.environmentId, -1));
      }
      const entry = entryOf(holder, id, true);
      if (entry.streams === 0) countWithoutStream(holder, -1);
      entry.streams += 1;
      entry.connection = "stream";
      entry.endedAt = null;
      entry.closed = false;
      changed();
      return once(() => endStream(entry));
    },

    polls(holder, id) {
      const entry = entryOf(holder, id, false);
      if (entry.connection !== null) return;
      entry.connection = "poll";
      changed();
    },

    reports(holder, { id, name, sdk, revision }, isBeside = false) {
      const entry = entryOf(holder, id, false);
      entry.name = name;
      entry.sdk = sdk;
      if (!isBeside) entry.hasReported = true;
      if (entry.revision === revision) return;
      const isLower = revisionNumber(revision) < revisionNumber(entry.revision);
      if (isBeside && entry.hasReported && isLower) return;
      entry.revision = revision;
      entry.appliedAt = clock().getTime();
      changed();
    },

    leaves(holder, id) {
      const entry = entryOf(holder, id, false);
      entry.closed = true;
      changed();
    },

    endOf(keyIds) {
      for (const [name, entry] of entries) {
        if (keyIds.has(entry.holder.keyId)) remove(name, entry);
      }
      changed();
    },

    all() {
      forget();
      const byEnvironment = new Map<number, { notified: number; clients: KnownClient[] }>();
      const environmentOf = (id: number) => {
        const known = byEnvironment.get(id) ?? { notified: notified.get(id) ?? 0, clients: [] };
        byEnvironment.set(id, known);
        return known;
      };
      for (const id of notified.keys()) environmentOf(id);
      for (const entry of entries.values()) {
        const { holder, streams: _streams, hasReported: _hasReported, ...client } = entry;
        environmentOf(holder.environmentId).clients.push({ ...client, keyId: holder.keyId });
      }
      return byEnvironment;
    },

    onChange(listener) {
      changed = listener;
    },
  };
};
