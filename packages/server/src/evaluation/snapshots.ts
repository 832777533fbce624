// The environments in memory. The change feed keeps them current; everyone else only reads.

import type { Replica } from "../platform/database/replica.ts";
import type { Position, Store } from "../platform/database/store.ts";
import { type Revision, revisionOf } from "../writes/change.ts";
import type { EnvironmentContent } from "./content.ts";
import { maxRecent } from "./recent-changes.ts";
import {
  type ChangeableSnapshot,
  type Counters,
  createSnapshot,
  type Snapshot,
} from "./snapshot.ts";

/** What was applied to a snapshot; undefined when it was replaced as a whole. */
export type Applied = readonly Revision[] | undefined;

export interface Snapshots {
  get(environmentId: number): Snapshot | undefined;
  /** Called once a snapshot has changed. */
  onChange(listener: (snapshot: Snapshot, applied: Applied) => void): () => void;
}

export interface ChangeableSnapshots extends Snapshots {
  environmentIds(): readonly number[];
  /** Applies the revisions that come next; false when one in between is missing. */
  apply(environmentId: number, revisions: readonly Revision[]): boolean;
  /** Does nothing when what is there is newer, unless the store is known to have gone back. */
  replace(position: Position, list: EnvironmentContent, wentBack: boolean): void;
  forget(environmentId: number): void;
}

/** `forgotten` is called with an environment that is gone. */
export const createSnapshots = (
  counters: Counters,
  forgotten: (environmentId: number) => void = () => {},
): ChangeableSnapshots => {
  const environments = new Map<number, ChangeableSnapshot>();
  const listeners = new Set<(snapshot: Snapshot, applied: Applied) => void>();
  const publish = (snapshot: Snapshot, applied: Applied) => {
    for (const listener of listeners) listener(snapshot, applied);
  };

  return {
    get: (environmentId) => environments.get(environmentId),
    environmentIds: () => [...environments.keys()],

    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    apply(environmentId, revisions) {
      const snapshot = environments.get(environmentId);
      if (!snapshot) return false;
      const applied: Revision[] = [];
      let isComplete = true;
      for (const revision of revisions) {
        if (revision.revision <= snapshot.revision) continue;
        if (revision.revision !== snapshot.revision + 1) {
          isComplete = false;
          break;
        }
        snapshot.apply(revision);
        applied.push(revision);
      }
      if (applied.length > 0) publish(snapshot, applied);
      return isComplete;
    },

    replace({ environmentId, name }, list, wentBack) {
      const known = environments.get(environmentId);
      if (!known) {
        const snapshot = createSnapshot(environmentId, name, list, counters);
        environments.set(environmentId, snapshot);
        publish(snapshot, undefined);
      } else if (wentBack || list.revision > known.revision) {
        known.replace(list);
        publish(known, undefined);
      }
    },

    forget(environmentId) {
      environments.delete(environmentId);
      counters.forget(environmentId);
      forgotten(environmentId);
    },
  };
};

/** Brings the snapshots to the positions of the store: by the revisions in between, or by reading an environment again. */
export const followSnapshots = (
  store: Pick<Store, "changesAfter" | "content">,
  snapshots: ChangeableSnapshots,
): Replica => {
  const follow = async (position: Position, before: number | undefined): Promise<void> => {
    const { environmentId, revision } = position;
    const wentBack = before !== undefined && revision < before;
    const known = snapshots.get(environmentId)?.revision;
    const isNear = known !== undefined && !wentBack && revision - known <= maxRecent;
    if (isNear && revision <= known) return;
    const isThere =
      isNear &&
      snapshots.apply(environmentId, await store.changesAfter(environmentId, known, maxRecent)) &&
      (snapshots.get(environmentId)?.revision ?? 0) >= revision;
    if (!isThere) snapshots.replace(position, await store.content(environmentId), wentBack);
  };

  return {
    beginPoll() {
      const before = new Map(
        snapshots.environmentIds().map((id) => [id, snapshots.get(id)?.revision ?? 0]),
      );
      return async (positions) => {
        const present = new Set(positions.map(({ environmentId }) => environmentId));
        for (const id of before.keys()) if (!present.has(id)) snapshots.forget(id);
        for (const position of positions)
          await follow(position, before.get(position.environmentId));
      };
    },
    // Others may have committed in between: then this change is applied after theirs.
    apply: ({ changes }) =>
      changes
        .map((change) => snapshots.apply(change.state.id, [revisionOf(change)]))
        .every((isComplete) => isComplete),
  };
};
