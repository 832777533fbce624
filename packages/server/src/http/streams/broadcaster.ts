// The readers of one thing: whatever is published reaches each of them once and in order, a few at a time.
import { setTimeout as pause, setImmediate as yielded } from "node:timers/promises";

/** Readers written to in one go: about a millisecond, then others have their turn. */
const batch = 100;

export interface Listening {
  /** How much of what was published this reader has. */
  position: number;
}

export interface Audience<Reader extends Listening> {
  readonly size: number;
  /** From now on; what was published before is not for this reader. */
  add(reader: Reader): void;
  delete(reader: Reader): void;
  publish(frame: Buffer): void;
}

export interface Manner {
  /** Those who have missed some get the newest only. */
  readonly newestOnly?: boolean;
  /** Milliseconds between two batches, for frames that each reader answers with a request. */
  readonly pace?: number;
}

export const createAudience = <Reader extends Listening>(
  send: (reader: Reader, frame: Buffer) => void,
  { newestOnly = false, pace = 0 }: Manner = {},
): Audience<Reader> => {
  const readers = new Set<Reader>();
  /** What was published and may not have reached everyone; the first of them is at `begin`. */
  let frames: Buffer[] = [];
  let begin = 0;
  let running = false;
  const end = () => begin + frames.length;

  /** Frames from a position on, joined once for all who lack the same. */
  let joined: { from: number; to: number; frame: Buffer } | undefined;
  const missing = (position: number): Buffer => {
    const last = frames.at(-1) ?? Buffer.of();
    if (newestOnly || position === end() - 1) return last;
    if (joined?.from !== position || joined.to !== end()) {
      const frame = Buffer.concat(frames.slice(position - begin));
      joined = { from: position, to: end(), frame };
    }
    return joined.frame;
  };

  const pass = async (): Promise<void> => {
    let written = 0;
    // A Set's iterator sees who comes and goes meanwhile.
    for (const reader of readers) {
      if (reader.position === end()) continue;
      send(reader, missing(reader.position));
      reader.position = end();
      written += 1;
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
    }
    begin = end();
    frames = [];
    joined = undefined;
    running = false;
  };

  return {
    get size() {
      return readers.size;
    },
    add(reader) {
      reader.position = end();
      readers.add(reader);
    },
    delete: (reader) => readers.delete(reader),
    publish(frame) {
      if (readers.size === 0) return;
      frames.push(frame);
      // `send` does not throw, so neither does it.
      if (!running) void run();
    },
  };
};
