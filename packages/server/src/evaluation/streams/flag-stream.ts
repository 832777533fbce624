// Streams of an environment: the snapshot first, then each revision.
import { isKind, kinds } from "@halyard/core/kinds";
import type { Revision } from "../../writes/change.ts";
import { revisionName } from "../recent-changes.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Snapshots } from "../snapshots.ts";
import { type Broadcaster, createBroadcaster } from "./broadcaster.ts";
import {
  type Beginning,
  type EventStreams,
  heartbeatFrame,
  retryAfter,
  type Subscriber,
} from "./event-streams.ts";
import { frameOf } from "./frame.ts";
import { revisionJson, snapshotFrames } from "./snapshot-json.ts";

export interface FlagStreams {
  /** For a reader who has the revision of this name; of an empty or strange name it has nothing. */
  begin(snapshot: Snapshot, lastEventId: string): Beginning;
}

const fields = (id: string, event: string): string => `id: ${id}\nevent: ${event}\n`;

const retry = retryAfter(2_000);

/** Made once for all subscribers, also for those who come back later. */
const changeFrames = new WeakMap<Revision, Buffer>();
const changeFrame = (revision: Revision): Buffer => {
  const kept = changeFrames.get(revision);
  if (kept) return kept;
  const name = revisionName(revision.revision, revision.at);
  const made = frameOf(
    `${fields(name, kinds[revision.kind].event)}data: ${revisionJson(revision)}\n\n`,
  );
  changeFrames.set(revision, made);
  return made;
};

/** A newer instance may write kinds that this version does not know: they are not for its clients. */
const changeFramesOf = (revisions: readonly Revision[]): readonly Buffer[] =>
  revisions.filter(({ kind }) => isKind(kind)).map(changeFrame);

const framesOf = (snapshot: Snapshot): readonly Buffer[] =>
  snapshotFrames(snapshot, fields(snapshot.name, "snapshot"));

export const createFlagStreams = (snapshots: Snapshots, streams: EventStreams): FlagStreams => {
  const broadcasters = new WeakMap<Snapshot, Broadcaster<Subscriber>>();
  const broadcasterOf = (snapshot: Snapshot): Broadcaster<Subscriber> => {
    const known = broadcasters.get(snapshot);
    if (known) return known;
    const broadcaster = createBroadcaster<Subscriber>(streams.send);
    broadcasters.set(snapshot, broadcaster);
    return broadcaster;
  };

  snapshots.onChange((snapshot, applied) => {
    const broadcaster = broadcasters.get(snapshot);
    if (!broadcaster || broadcaster.size === 0) return;
    const frames = applied ? changeFramesOf(applied) : framesOf(snapshot);
    for (const frame of frames) broadcaster.publish(frame);
  });

  const framesFor = (snapshot: Snapshot, lastEventId: string): readonly Buffer[] => {
    const changes = snapshot.since(lastEventId);
    if (!changes) return framesOf(snapshot);
    const frames = changeFramesOf(changes);
    return frames.length === 0 ? [heartbeatFrame] : frames;
  };

  return {
    begin: (snapshot, lastEventId) => ({
      frames: [retry, ...framesFor(snapshot, lastEventId)],
      broadcaster: broadcasterOf(snapshot),
    }),
  };
};
