// The environments in memory. The change feed keeps them current; everyone else only reads.
import type { Revision } from "../domain/change.ts";
import type { FlagList, Position } from "../ports.ts";
import {
  type ChangeableSnapshot,
  type Counter,
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
  replace(position: Position, list: FlagList, wentBack: boolean): void;
  forget(environmentId: number): void;
}

export const createSnapshots = (
  counterOf: (environmentId: number, flagKey: string) => Counter,
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
        const snapshot = createSnapshot(environmentId, name, list, counterOf);
        environments.set(environmentId, snapshot);
        publish(snapshot, undefined);
      } else if (wentBack || list.revision > known.revision) {
        known.replace(list);
        publish(known, undefined);
      }
    },

    forget(environmentId) {
      environments.delete(environmentId);
    },
  };
};
