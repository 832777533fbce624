// The audience of a stream: everyone gets what was published while it listened, once, in order, and a few at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as yielded } from "node:timers/promises";
import fc from "fast-check";
import {
  type BroadcastOptions,
  createBroadcaster,
  type Positioned,
} from "../src/evaluation/streams/broadcaster.ts";
import { until } from "./support/until.ts";

interface Reader extends Positioned {
  text: string;
}
const reader = (): Reader => ({ position: 0, text: "" });
const createRoom = (manner?: BroadcastOptions) => {
  const sent = { writes: 0 };
  const broadcaster = createBroadcaster<Reader>((each, frames) => {
    sent.writes += 1;
    each.text += frames.join("");
  }, manner);
  return { broadcaster, sent };
};

test("frames published during a pass over many readers keep their order for each", async () => {
  const { broadcaster, sent } = createRoom();
  const readers = Array.from({ length: 1_000 }, reader);
  for (const each of readers) broadcaster.add(each);
  for (const frame of "abc") broadcaster.publish(Buffer.from(frame));
  while (sent.writes === 0) await yielded();
  // Most have nothing yet, the first ones have all.
  assert.ok(sent.writes < 1_000);
  const late = reader();
  broadcaster.add(late);
  broadcaster.publish(Buffer.from("d"));
  await until("all", () => readers.every(({ text }) => text === "abcd"));
  await until("the late one", () => late.text === "d");
  // Those who lacked all four got them in one write.
  assert.ok(sent.writes < 2_001);
});

test("whoever publishes does not wait, and others have their turn between the batches", async () => {
  const { broadcaster, sent } = createRoom();
  const readers = Array.from({ length: 1_000 }, reader);
  for (const each of readers) broadcaster.add(each);
  broadcaster.publish(Buffer.from("a"));
  assert.equal(sent.writes, 0);
  const steps: number[] = [];
  while (sent.writes < 1_000) {
    await yielded();
    if (sent.writes !== steps.at(-1)) steps.push(sent.writes);
  }
  assert.ok(steps.length >= 9, `it went in ${steps.length} steps`);
});

test("when only the newest counts, who missed several gets the last", async () => {
  const { broadcaster } = createRoom({ newestOnly: true, pace: 5 });
  const readers = Array.from({ length: 500 }, reader);
  for (const each of readers) broadcaster.add(each);
  for (const frame of "abc") broadcaster.publish(Buffer.from(frame));
  await until("some", () => readers.some(({ text }) => text !== ""));
  broadcaster.publish(Buffer.from("d"));
  await until("all", () => readers.every(({ text }) => text.endsWith("d")));
  assert.deepEqual([...new Set(readers.map(({ text }) => text))].sort(), ["cd", "d"]);
});

test("when only the newest counts, everyone gets it, also when several come during one pass", async () => {
  const { broadcaster } = createRoom({ newestOnly: true, pace: 5 });
  const readers = Array.from({ length: 500 }, reader);
  for (const each of readers) broadcaster.add(each);
  broadcaster.publish(Buffer.from("a"));
  for (const [before, frame] of ["ab", "bc"]) {
    await until("some", () => readers.some(({ text }) => text.endsWith(before as string)));
    broadcaster.publish(Buffer.from(frame as string));
  }
  await until("the end", () => broadcaster.kept === 0);
  for (const { text } of readers) assert.match(text, /^a?b?c$/);
});

test("frames that everyone has are dropped, also while more come than a pass takes", async () => {
  const { broadcaster } = createRoom();
  const readers = Array.from({ length: 300 }, reader);
  for (const each of readers) broadcaster.add(each);
  let published = "";
  let most = 0;
  // One in each turn of the event loop: a pass over so many takes several, so the broadcaster is never idle.
  for (let turn = 0; turn < 200; turn += 1) {
    broadcaster.publish(Buffer.from(`${turn} `));
    published += `${turn} `;
    most = Math.max(most, broadcaster.kept);
    await yielded();
  }
  await until("all", () => readers.every(({ text }) => text === published));
  assert.ok(most < 50, `${most} frames were kept`);
  await until("none is kept", () => broadcaster.kept === 0);
});

test("when only the newest counts, only the newest is kept", async () => {
  const { broadcaster } = createRoom({ newestOnly: true, pace: 5 });
  const readers = Array.from({ length: 300 }, reader);
  for (const each of readers) broadcaster.add(each);
  for (let turn = 0; turn < 100; turn += 1) {
    broadcaster.publish(Buffer.from(`${turn} `));
    assert.equal(broadcaster.kept, 1);
  }
  await until("all", () => readers.every(({ text }) => text.endsWith("99 ")));
});

test("what is large is sent as it is: joining it would be one more copy", async () => {
  const large = [Buffer.alloc(40_000, "a"), Buffer.alloc(40_000, "b")];
  const seen = new Set<Buffer>();
  const broadcaster = createBroadcaster<Reader>((_, frames) => {
    for (const frame of frames) seen.add(frame);
  });
  const readers = [reader(), reader()];
  for (const each of readers) broadcaster.add(each);
  for (const frame of large) broadcaster.publish(frame);
  await until("both", () => readers.every(({ position }) => position === 2));
  assert.deepEqual([...seen], large);
  assert.ok([...seen].every((frame, index) => frame === large[index]));
});

test("whatever comes and goes meanwhile, each reader has exactly what was published while it listened", async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant("publish" as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("join" as const), count: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ kind: fc.constant("leave" as const), count: fc.integer({ min: 0, max: 300 }) }),
      fc.record({ kind: fc.constant("yield" as const), count: fc.integer({ min: 1, max: 4 }) }),
    ),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const { broadcaster } = createRoom();
      const present: { reader: Reader; from: number }[] = [];
      let published = "";
      for (const { kind, count } of sequence) {
        for (let turn = 0; turn < count; turn += 1) {
          if (kind === "publish") {
            const frame = `${published.length % 10}`;
            if (present.length > 0) published += frame;
            broadcaster.publish(Buffer.from(frame));
          } else if (kind === "join") {
            const joined = reader();
            broadcaster.add(joined);
            present.push({ reader: joined, from: published.length });
          } else if (kind === "leave") {
            const [gone] = present.splice(turn * 7, 1);
            if (gone) broadcaster.delete(gone.reader);
          } else {
            await yielded();
          }
        }
      }
      await until("everyone has all", () =>
        present.every((each) => each.reader.text === published.slice(each.from)),
      );
    }),
    { numRuns: 60 },
  );
});
