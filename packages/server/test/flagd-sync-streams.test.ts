// Who gets which definition, and in which order, when readers of flagd are slow.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlagdDefinition } from "../src/evaluation/flagd/definitions.ts";
import { createSyncStreams } from "../src/evaluation/flagd/grpc/sync-streams.ts";
import type { Snapshot } from "../src/evaluation/snapshot.ts";
import { conflict, ok, type Result } from "../src/platform/errors.ts";
import { until } from "./support/until.ts";

const counts = { exact: 0, ascii: 0, "left-out": 0 };
const mebibyte = 1_024 * 1_024;

test("one who has waited for room gets the newest definition, and not the older one after it", async (t) => {
  const snapshot = {} as Snapshot;
  let bytes = Buffer.alloc(11 * mebibyte);
  let change = (): void => undefined;
  const failures: unknown[] = [];
  const streams = createSyncStreams(
    {
      onChange(listener) {
        change = () => listener(snapshot, undefined);
        return () => true;
      },
    },
    { of: () => Promise.resolve(ok({ bytes, tag: "", counts })) },
    () => performance.now(),
    (error) => failures.push(error),
  );
  t.after(() => streams.close());
  const readers = Array.from({ length: 3 }, () => {
    const reader: { readonly got: number[]; taken: () => void } = { got: [], taken: () => {} };
    streams.begin(
      { keyId: "some", snapshot, follows: true },
      {
        send(message, sent) {
          reader.got.push(Math.floor(message.length / mebibyte));
          reader.taken = sent;
        },
        refuse: () => assert.fail("refused"),
        cut: () => assert.fail("cut off"),
      },
    );
    return reader;
  });
  await until("two have theirs on the way", () => readers.flatMap(({ got }) => got).length === 2);
  bytes = Buffer.alloc(mebibyte);
  change();
  await until("the third has the newer one", () => readers[2]?.got.length === 1);
  // Those that have read are sent what came meanwhile.
  for (const { taken } of readers) taken();
  for (const { taken } of readers) taken();
  assert.deepEqual(
    readers.map(({ got }) => got),
    [[11, 1], [11, 1], [1]],
  );
  assert.deepEqual(failures, []);
});

test("the calls of an environment whose definition becomes too large are ended", async (t) => {
  const snapshot = {} as Snapshot;
  let change = (): void => undefined;
  let made: Result<FlagdDefinition> = ok({ bytes: Buffer.alloc(10), tag: "", counts });
  const streams = createSyncStreams(
    {
      onChange(listener) {
        change = () => listener(snapshot, undefined);
        return () => true;
      },
    },
    { of: () => Promise.resolve(made) },
    () => performance.now(),
    (error) => assert.fail(String(error)),
  );
  t.after(() => streams.close());
  const refused: string[] = [];
  let sent = 0;
  for (let key = 0; key < 3; key += 1) {
    const end = streams.begin(
      { keyId: `${key}`, snapshot, follows: true },
      {
        send(_, taken) {
          sent += 1;
          taken();
        },
        refuse({ code }) {
          refused.push(code);
          end();
        },
        cut: () => assert.fail("cut off"),
      },
    );
  }
  await until("all have the first", () => sent === 3);
  made = conflict("too large");
  change();
  await until("all are ended", () => refused.length === 3);
  assert.deepEqual(refused, ["CONFLICT", "CONFLICT", "CONFLICT"]);
});

test("unread data of calls is limited for an environment and for the process, whatever their keys", async (t) => {
  const bytes = Buffer.alloc(15 * mebibyte);
  const failures: unknown[] = [];
  const streams = createSyncStreams(
    { onChange: () => () => true },
    { of: () => Promise.resolve(ok({ bytes, tag: "", counts })) },
    () => performance.now(),
    (error) => failures.push(error),
  );
  t.after(() => streams.close());
  const snapshots = Array.from({ length: 4 }, () => ({}) as Snapshot);
  const taken: { readonly environment: number; readonly take: () => void }[] = [];
  const begin = (environment: number, key: number) =>
    streams.begin(
      {
        keyId: `${environment} ${key}`,
        snapshot: snapshots[environment] ?? ({} as Snapshot),
        follows: true,
      },
      {
        send: (_, take) => void taken.push({ environment, take }),
        refuse: () => assert.fail("refused"),
        cut: () => assert.fail("cut off"),
      },
    );
  const count = (environment: number) =>
    taken.filter((each) => each.environment === environment).length;
  for (let key = 0; key < 40; key += 1) begin(0, key);
  await until("the messages of one environment", () => count(0) === 4);
  for (let environment = 1; environment < 4; environment += 1) {
    for (let key = 0; key < 40; key += 1) begin(environment, key);
  }
  await until("the messages of the process", () => taken.length === 8);
  assert.deepEqual([0, 1, 2, 3].map(count), [4, 4, 0, 0]);
  // One at a time: memory never exceeds 128 MiB, and every call gets its message.
  let read = 0;
  for (; taken.length > read; read += 1) {
    taken[read]?.take();
    assert.ok(taken.length <= read + 9, `${taken.length} sent, ${read + 1} read`);
  }
  assert.equal(read, 160);
  assert.deepEqual(failures, []);
});
