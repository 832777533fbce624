// Brings the snapshots to the positions of the store: by the revisions in between, or by reading an environment again.
import { revisionOf } from "../domain/change.ts";
import type { Position, Store } from "../ports.ts";
import type { Replica } from "./change-feed.ts";
import { maxRecent } from "./snapshot.ts";
import type { ChangeableSnapshots } from "./snapshots.ts";

export const followSnapshots = (
  store: Pick<Store, "changesAfter" | "flags">,
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
    if (!isThere) snapshots.replace(position, await store.flags(environmentId), wentBack);
  };

  return {
    beginLook() {
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
        .map((change) => snapshots.apply(change.environmentId, [revisionOf(change)]))
        .every((isComplete) => isComplete),
  };
};
