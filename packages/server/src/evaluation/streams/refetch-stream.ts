// Who is told that evaluations may have changed: those who then ask again.
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
import { createThrottle } from "./fold.ts";
import { frameOf } from "./frame.ts";

export interface RefetchStreams {
  /**
   * For a reader who was last told of the revision of this name. Who was told of none asks again too: something may have
   * changed between its evaluation and now.
   */
  begin(snapshot: Snapshot, lastEventId: string): Beginning;
}

/** Changes that come faster are told as one. */
const throttleWithin = 100;
/** Between two batches of readers: everyone who is told asks again, and not all of them are to do so at once. */
const pace = 20;

/** Browsers come back after exactly this time, so they are given different ones. */
const retries = [1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 4_500].map(retryAfter);

const refetchFrame = ({ name, changedAt }: Snapshot): Buffer => {
  const lastModified = Math.floor((changedAt?.getTime() ?? 0) / 1_000);
  const data = { type: "refetchEvaluation", etag: name, lastModified };
  return frameOf(`id: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
};

interface Readers {
  readonly broadcaster: Broadcaster<Subscriber>;
  readonly notify: () => void;
}

export const createRefetchStreams = (
  snapshots: Snapshots,
  streams: EventStreams,
): RefetchStreams => {
  const environments = new WeakMap<Snapshot, Readers>();
  let opened = 0;
  const nextRetry = (): Buffer => {
    opened += 1;
    return retries[opened % retries.length] ?? retryAfter(2_000);
  };

  const readersOf = (snapshot: Snapshot): Readers => {
    const known = environments.get(snapshot);
    if (known) return known;
    const broadcaster = createBroadcaster<Subscriber>(streams.send, { newestOnly: true, pace });
    const notify = createThrottle(
      () => broadcaster.publish(refetchFrame(snapshot)),
      () => throttleWithin,
    );
    const readers: Readers = { broadcaster, notify };
    environments.set(snapshot, readers);
    return readers;
  };

  snapshots.onChange((snapshot) => {
    const readers = environments.get(snapshot);
    if (readers && readers.broadcaster.size > 0) readers.notify();
  });

  return {
    begin: (snapshot, lastEventId) => ({
      frames: [
        nextRetry(),
        lastEventId === snapshot.name ? heartbeatFrame : refetchFrame(snapshot),
      ],
      broadcaster: readersOf(snapshot).broadcaster,
    }),
  };
};
