// Who follows the flags of an environment: the whole of it first, then each change.
import type { FlagChange } from "../../domain/change.ts";
import { revisionName, type Snapshot } from "../../evaluation/snapshot.ts";
import type { Snapshots } from "../../evaluation/snapshots.ts";
import { type Broadcaster, createBroadcaster } from "./broadcaster.ts";
import {
  type Beginning,
  type EventStreams,
  heartbeatFrame,
  retryAfter,
  type Subscriber,
} from "./event-streams.ts";

export interface FlagStreams {
  /** For a reader who has the revision of this name; of an empty or strange name it has nothing. */
  begin(snapshot: Snapshot, lastEventId: string): Beginning;
}

const frame = (id: string, event: string, data: object): Buffer =>
  Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

const snapshotFrame = (snapshot: Snapshot): Buffer =>
  frame(snapshot.name, "snapshot", {
    environment: snapshot.environmentName,
    revision: snapshot.revision,
    at: snapshot.changedAt,
    flags: snapshot.all().map(({ version, flag }) => ({ version, flag })),
  });

const retry = retryAfter(2_000);

/** Made once for all readers, also for those who come back later. */
const changeFrames = new WeakMap<FlagChange, Buffer>();
const changeFrame = (change: FlagChange): Buffer => {
  const kept = changeFrames.get(change);
  if (kept) return kept;
  const { revision, at, key, version, flag } = change;
  const made = frame(revisionName(revision, at), "change", { revision, at, key, version, flag });
  changeFrames.set(change, made);
  return made;
};

export const createFlagStreams = (snapshots: Snapshots, streams: EventStreams): FlagStreams => {
  const broadcasters = new WeakMap<Snapshot, Broadcaster<Subscriber>>();
  /** The newest snapshot frame of each environment that somebody came for. */
  const wholes = new WeakMap<Snapshot, { readonly name: string; readonly bytes: Buffer }>();

  const whole = (snapshot: Snapshot): Buffer => {
    const kept = wholes.get(snapshot);
    if (kept?.name === snapshot.name) return kept.bytes;
    const bytes = snapshotFrame(snapshot);
    wholes.set(snapshot, { name: snapshot.name, bytes });
    return bytes;
  };

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
    if (applied) for (const change of applied) broadcaster.publish(changeFrame(change));
    else broadcaster.publish(whole(snapshot));
  });

  const framesFor = (snapshot: Snapshot, lastEventId: string): readonly Buffer[] => {
    const changes = snapshot.since(lastEventId);
    if (!changes) return [whole(snapshot)];
    return changes.length === 0 ? [heartbeatFrame] : changes.map(changeFrame);
  };

  return {
    begin: (snapshot, lastEventId) => ({
      frames: [retry, ...framesFor(snapshot, lastEventId)],
      broadcaster: broadcasterOf(snapshot),
    }),
  };
};
