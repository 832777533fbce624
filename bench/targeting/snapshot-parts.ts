// The server's snapshot of an environment, made from flags and segments without a store.
import type { Flag } from "../../packages/core/src/flags/registry.ts";
import { levelOf } from "../../packages/core/src/flags/registry.ts";
import type { Segment } from "../../packages/core/src/targeting/segment.ts";
import {
  type ChangeableSnapshot,
  createSnapshot,
  type Snapshot,
} from "../../packages/server/src/evaluation/snapshot.ts";
import { snapshotFrames } from "../../packages/server/src/http/streams/snapshot-json.ts";

const counters = { of: () => ({ on: 0, off: 0, results: undefined }), forget: () => undefined };

export const newSnapshot = (
  flags: readonly Flag[],
  segments: readonly Segment[],
): ChangeableSnapshot =>
  createSnapshot(
    1,
    "bench",
    {
      revision: 1,
      changedAt: new Date(),
      flags: flags.map((flag) => ({ flag, version: 1, level: levelOf(flag) })),
      segments: segments.map((segment) => ({ segment, version: 1 })),
    },
    counters,
  );

export const renderAll = (snapshot: Snapshot): readonly Buffer[] => snapshotFrames(snapshot, "");

export const frameBytes = (snapshot: Snapshot): number =>
  renderAll(snapshot).reduce((sum, { length }) => sum + length, 0);
