// Who gets which definition, and in which order, when readers of flagd are slow.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../src/evaluation/snapshot.ts";
import { createSyncStreams } from "../src/grpc/sync-streams.ts";
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
    { of: () => Promise.resolve({ bytes, tag: "", counts }) },
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
