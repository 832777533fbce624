// The readers of one thing: whatever is published reaches each of them once and in order, a few at a time.
import { setTimeout as pause, setImmediate as yielded } from "node:timers/promises";

/** Readers written to in one go: about a millisecond, then others have their turn. */
const batch = 100;
/** Frames of so many bytes together are sent as they are: joining them would be one more copy of them. */
const joinWithin = 65_536;

export interface Positioned {
  /** How much of what was published this reader has. */
  position: number;
}

export interface Broadcaster<Subscriber extends Positioned> {
  readonly size: number;
  /** Frames that are kept because someone may still lack them. */
  readonly kept: number;
  /** From now on; what was published before is not for this reader. */
  add(subscriber: Subscriber): void;
  delete(subscriber: Subscriber): void;
  publish(frame: Buffer): void;
}

export interface BroadcastOptions {
  /** Those who have missed some get the newest only. */
  readonly newestOnly?: boolean;
  /** Milliseconds between two batches, for frames that each reader answers with a request. */
  readonly pace?: number;
  /** Asked after each reader: what is to be waited for before the next, so that not too much is on its way at once. */
  readonly rest?: () => Promise<unknown> | undefined;
}

export const createBroadcaster = <Subscriber extends Positioned>(
  send: (subscriber: Subscriber, frames: readonly Buffer[]) => void,
  { newestOnly = false, pace = 0, rest }: BroadcastOptions = {},
): Broadcaster<Subscriber> => {
  const subscribers = new Set<Subscriber>();
  /** What was published and may not have reached everyone; the first of them is at `begin`. */
  let frames: Buffer[] = [];
  let begin = 0;
  let running = false;
  const end = () => begin + frames.length;

  /** Frames from a position on, put together once for all who lack the same. */
  let joined: { from: number; to: number; frames: readonly Buffer[] } | undefined;
  const missing = (position: number): readonly Buffer[] => {
    if (joined?.from !== position || joined.to !== end()) {
      const lacking = newestOnly ? frames.slice(-1) : frames.slice(position - begin);
      const length = lacking.reduce((sum, frame) => sum + frame.length, 0);
      const isJoined = lacking.length > 1 && length <= joinWithin;
      joined = {
        from: position,
        to: end(),
        frames: isJoined ? [Buffer.concat(lacking)] : lacking,
      };
    }
    return joined.frames;
  };

  /** Everyone has what came before this position. */
  const drop = (position: number): void => {
    // With `newestOnly`, what a pass has brought to all may be gone already.
    if (position <= begin) return;
    frames = frames.slice(position - begin);
    begin = position;
    joined = undefined;
  };

  const pass = async (): Promise<void> => {
    let written = 0;
    // A Set's iterator sees who comes and goes meanwhile.
    for (const subscriber of subscribers) {
      if (subscriber.position === end()) continue;
      send(subscriber, missing(subscriber.position));
      subscriber.position = end();
      written += 1;
      if (rest) await rest();
      if (written % batch > 0) continue;
      await (pace > 0 ? pause(pace) : yielded());
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    // Whoever published is not to wait for the first batch.
    await yielded();
    for (let reached = -1; reached < end(); ) {
      reached = end();
      await pass();
      // Also while more is published than a pass takes: then this loop does not end.
      drop(reached);
    }
    running = false;
  };

  return {
    get size() {
      return subscribers.size;
    },
    get kept() {
      return frames.length;
    },
    add(subscriber) {
      subscriber.position = end();
      subscribers.add(subscriber);
    },
    delete: (subscriber) => subscribers.delete(subscriber),
    publish(frame) {
      if (subscribers.size === 0) return;
      if (newestOnly) drop(end());
      frames.push(frame);
      // `send` does not throw, so neither does it.
      if (!running) void run();
    },
  };
};
