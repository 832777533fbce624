// The sample of contexts by itself: whom it holds, how samples merge and how windows move.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bucketHash } from "@halyard/core/bucket";
import type { EvaluationContext } from "@halyard/core/context";
import { mergeRanges } from "@halyard/core/sampling/smallest-hashes";
import { type SamplePart, viewOf } from "../src/evaluation/context-sample.ts";
import {
  createContextSample,
  type OwnContextSample,
  windowLength,
} from "../src/evaluation/context-sample-windows.ts";

const secret = "a-secret-for-tests-that-is-fixed";
const start = Date.UTC(2026, 10, 16, 12, 10);

const newSample = (size: number, more: { secret?: string; now?: () => number } = {}) =>
  createContextSample({
    size,
    secret: more.secret ?? secret,
    clock: () => new Date(more.now?.() ?? start),
  });

const keysOf = async (sample: OwnContextSample, environmentId = 1): Promise<string[]> =>
  ((await sample.view(environmentId))?.contexts ?? [])
    .map(({ context }) => context.targetingKey ?? "")
    .sort();
const partOf = (sample: OwnContextSample): SamplePart => {
  const part = sample.part(1);
  assert.ok(part);
  return part;
};
const offerKeys = (sample: OwnContextSample, from: number, to: number, fromClient = false) => {
  for (let index = from; index < to; index += 1) {
    sample.offer(1, { targetingKey: `user-${index}`, index }, fromClient);
  }
};

suite("the sample of contexts", () => {
  test("holds everybody while they are few, once, with what was said first", async () => {
    const sample = newSample(100);
    for (let turn = 0; turn < 3; turn += 1) offerKeys(sample, 0, 50);
    sample.offer(1, { targetingKey: "user-0", plan: "pro" }, false);
    sample.offer(2, { targetingKey: "elsewhere" }, false);
    const view = await sample.view(1);
    assert.equal(view?.contexts.length, 50);
    const first = view?.contexts.find(({ context }) => context.targetingKey === "user-0");
    assert.deepEqual(first, { context: { targetingKey: "user-0", index: 0 }, fromClient: false });
    assert.deepEqual([view?.since, view?.until], [new Date(start), new Date(start)]);
    assert.equal((await sample.view(2))?.contexts.length, 1);
    sample.forget(2);
    assert.deepEqual(await keysOf(sample, 2), []);
    sample.offer(2, { targetingKey: "elsewhere" }, false);
    assert.deepEqual(await keysOf(sample, 2), ["elsewhere"], "a new environment of that number");
  });

  test("contexts without a targeting key are told apart by all else, in any order", async () => {
    const sample = newSample(100);
    const contexts: EvaluationContext[] = [
      { country: "DE", plan: "pro" },
      { plan: "pro", country: "DE" },
      { country: "DE", plan: "free" },
      { country: "pro", plan: "DE" },
      { company: { id: 1 } },
      { company: { id: 2 } },
      { age: 1 },
      { age: "1" },
      { country: "DE", plan: "pro", targetingKey: "" },
      {},
    ];
    for (const context of contexts) sample.offer(1, context, false);
    assert.equal((await sample.view(1))?.contexts.length, 9);
  });

  test("is uniform over distinct keys, however often each of them asks", async () => {
    const population = 100_000;
    const size = 5_000;
    const sample = newSample(size);
    // The first tenth asks twenty times as often, and by another program, so with other attributes.
    for (let turn = 0; turn < 20; turn += 1) offerKeys(sample, 0, population / 10);
    offerKeys(sample, 0, population);
    const view = await sample.view(1);
    const indexes = (view?.contexts ?? []).map(({ context }) => Number(context.index));
    assert.equal(indexes.length, size);
    assert.equal(new Set(indexes).size, size);
    /** Pearson's statistic; with nine degrees of freedom one in a thousand is beyond 27.9. */
    const statistic = (places: readonly number[]): number => {
      const counts = new Array<number>(10).fill(0);
      for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
      return counts.reduce((sum, count) => sum + (count - size / 10) ** 2 / (size / 10), 0);
    };
    assert.ok(statistic(indexes.map((index) => Math.floor((index * 10) / population))) < 27.9);
    // The buckets of a flag are by the same function: the sample must not know of them.
    for (const flag of ["new-checkout", "a", secret.slice(1)]) {
      const tenth = (index: number) =>
        Math.floor((bucketHash(flag, `user-${index}`) * 10) / 2 ** 32);
      assert.ok(statistic(indexes.map(tenth)) < 27.9, flag);
    }
  });

  test("nobody without the secret knows whom it holds", async () => {
    const [one, other] = [newSample(100), newSample(100, { secret: `${secret}.` })];
    for (const sample of [one, other]) offerKeys(sample, 0, 10_000);
    const both = new Set(await keysOf(one)).intersection(new Set(await keysOf(other)));
    assert.ok(both.size < 10, `${both.size} of 100 are in both`);
  });

  test("samples of several instances merge to what one would have had", async () => {
    const size = 1_000;
    const [one, other, whole] = [newSample(size), newSample(size), newSample(size)];
    // Some came to both, some with client keys.
    const offers = [
      [one, 0, 30_000, false],
      [other, 20_000, 50_000, false],
      [one, 60_000, 62_000, true],
      [other, 61_000, 66_000, true],
    ] as const;
    for (const [sample, from, to, fromClient] of offers) {
      offerKeys(sample, from, to, fromClient);
      offerKeys(whole, from, to, fromClient);
    }
    const merged = await viewOf([partOf(one), partOf(other)], size);
    assert.deepEqual(merged, await whole.view(1));
    assert.deepEqual(await viewOf([partOf(other), partOf(one)], size), merged);
    const shared = createContextSample({
      ...{ size, secret, clock: () => new Date(start) },
      parts: async () => [partOf(one), partOf(other)],
    });
    assert.deepEqual(await shared.view(1), merged);
    // One that had no room for more has seen others there too, and nobody knows whom.
    const entriesOf = (...hashes: number[]) => hashes.map((hash) => ({ hash, text: "{}" }));
    const short = { limit: 10, entries: entriesOf(5) };
    const long = { limit: 2 ** 32, entries: entriesOf(7, 20) };
    assert.deepEqual(mergeRanges([short, long], 100), { limit: 10, entries: entriesOf(5, 7) });
  });

  test("others have their turn while a large sample is read", async () => {
    const sample = newSample(3_000);
    offerKeys(sample, 0, 3_000);
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await sample.view(1);
    clearImmediate(next);
    assert.ok(turns >= 5, String(turns));
  });

  test("contexts of client keys are at most a quarter when there are others", async () => {
    const size = 1_000;
    const sample = newSample(size);
    const counts = async () => {
      const contexts = (await sample.view(1))?.contexts ?? [];
      const clients = contexts.filter(({ fromClient }) => fromClient).length;
      return { clients, others: contexts.length - clients };
    };
    offerKeys(sample, 0, 200_000, true);
    assert.deepEqual(await counts(), { clients: size, others: 0 });
    offerKeys(sample, 1_000_000, 1_000_030);
    assert.deepEqual(await counts(), { clients: 10, others: 30 });
    offerKeys(sample, 1_000_030, 1_020_000);
    const { clients, others } = await counts();
    assert.equal(clients + others, size);
    assert.ok(clients > 0 && clients <= size / 4, `${clients}`);
    // A key that came with both is the one of those who are trusted.
    sample.offer(2, { targetingKey: "a", plan: "made up" }, true);
    sample.offer(2, { targetingKey: "a", plan: "free" }, false);
    for (const targetingKey of ["b", "c"]) sample.offer(2, { targetingKey }, false);
    const both = (await sample.view(2))?.contexts ?? [];
    assert.deepEqual(
      both.filter(({ context }) => context.targetingKey === "a"),
      [{ context: { targetingKey: "a", plan: "free" }, fromClient: false }],
    );
    assert.equal(both.length, 3);
  });

  test("is of this hour and of the one before", async () => {
    let now = start;
    const sample = newSample(1_000, { now: () => now });
    const offer = (key: string) => sample.offer(1, { targetingKey: key }, false);
    offer("a");
    now += windowLength;
    // Otherwise a timer moves the windows, within a second.
    await sample.view(1);
    for (const key of ["a", "b"]) offer(key);
    assert.deepEqual(await keysOf(sample), ["a", "b"]);
    assert.equal((await sample.view(1))?.since.getTime(), start, "not before it was begun");
    now += windowLength;
    offer("c");
    assert.deepEqual(await keysOf(sample), ["a", "b", "c"], "a was there in the second hour");
    assert.equal((await sample.view(1))?.since.toISOString(), "2026-11-16T13:00:00.000Z");
    now += windowLength;
    assert.deepEqual(await keysOf(sample), ["c"]);
    now += windowLength;
    assert.deepEqual(await keysOf(sample), []);
    offer("d");
    now -= windowLength;
    assert.deepEqual(await keysOf(sample), ["d"], "a clock that was put back a little");
    now += 6 * windowLength;
    assert.deepEqual(await keysOf(sample), [], "a clock that was put forward");
    assert.equal(sample.bytes(), 0);
  });

  test("0 keeps nothing", async () => {
    const sample = newSample(0);
    offerKeys(sample, 0, 10);
    assert.deepEqual(
      [await sample.view(1), sample.part(1), sample.bytes()],
      [undefined, undefined, 0],
    );
  });
});
