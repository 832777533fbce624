// What streams share: the places for them, and the bytes of what they are sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentContent } from "../src/evaluation/content.ts";
import { createSnapshot } from "../src/evaluation/snapshot.ts";
import { snapshotFrames } from "../src/evaluation/streams/snapshot-json.ts";
import { streamLimitsOf } from "../src/evaluation/streams/stream-shares.ts";
import type { VersionedFlag } from "../src/writes/change.ts";

import { assertRefused } from "./support/answers.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

test("streams take at most four fifths of the connections, one environment three, one key two", () => {
  const [maxStreams, maxStreamsPerEnvironment, maxStreamsPerKey] = [20_000, 15_000, 10_000];
  assert.deepEqual(streamLimitsOf(25_000), {
    maxStreams,
    maxStreamsPerEnvironment,
    maxStreamsPerKey,
  });
  assert.equal(streamLimitsOf(1).maxStreams, 1);
});

test("HALYARD_MAX_CONNECTIONS bounds the streams of a server", async (t) => {
  const server = await startTestServer({ HALYARD_MAX_CONNECTIONS: "5" });
  t.after(() => server.close());
  const { keys } = await server.environment();
  const opening = [1, 2, 3].map(() =>
    openStream(`${server.url}/api/v1/stream`, bearer(keys.server)),
  );
  const streams = await Promise.all(opening);
  assert.deepEqual(
    streams.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 429],
  );
  for (const stream of streams) stream.close();
});

test("neither a key nor an environment takes the streams of the others", async (t) => {
  const server = await startTestServer(
    {},
    { streams: { maxStreams: 5, maxStreamsPerEnvironment: 3, maxStreamsPerKey: 2 } },
  );
  t.after(() => server.close());
  const [one, other] = [await server.environment(), await server.environment()];
  const path = `${server.url}/api/v1/stream`;
  const opened = [
    await openStream(path, bearer(one.keys.server)),
    await openStream(path, bearer(one.keys.server)),
  ];
  const refused = await one.server("GET", "/stream");
  assertRefused(refused, 429, "This API key has 2 event streams open");
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  opened.push(await openStream(path, bearer(one.keys.admin)));
  assertRefused(await one.admin("GET", "/stream"), 429, "This environment has 3");
  // A page that is told to evaluate again holds a stream too.
  const bulk = await fetch(`${server.url}/ofrep/v1/evaluate/flags`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(one.keys.client) },
    body: '{"context":{"targetingKey":"u"}}',
  });
  const { eventStreams } = (await bulk.json()) as { eventStreams: { url: string }[] };
  const page = await fetch(eventStreams[0]?.url ?? "");
  assert.equal(page.status, 429);
  assert.match(page.headers.get("retry-after") ?? "", /^\d+$/);
  assert.match(await page.text(), /errorDetails.*This environment has 3/);
  for (const role of ["server", "admin"] as const) {
    opened.push(await openStream(path, bearer(other.keys[role])));
  }
  assert.deepEqual(
    opened.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  assertRefused(await other.admin("GET", "/stream"), 503, "reached its limit of event streams");
  opened[0]?.close();
  await until("a free place", async () => {
    const tried = await openStream(path, bearer(one.keys.server));
    opened.push(tried);
    return tried.status === 200;
  });
  for (const stream of opened) stream.close();
});

test("unread streams of different revisions share the bytes of what has not changed", async () => {
  const include = Array.from({ length: 40_000 }, (_, index) => `user-${index}`);
  const people = { key: "people", description: null, include, exclude: [], when: null };
  const list = (revision: number, flags: readonly VersionedFlag[]): EnvironmentContent => ({
    revision,
    changedAt: new Date(revision),
    segments: [{ version: 1, segment: people }],
    flags,
  });
  const flags = Array.from(
    { length: 1_000 },
    (_, index): VersionedFlag => ({
      flag: {
        key: `flag-${String(index).padStart(4, "0")}`,
        type: "boolean",
        enabled: false,
        description: "x".repeat(500),
      },
      version: 1,
    }),
  );
  const snapshot = createSnapshot(1, "test", list(1, flags), {
    of: () => ({ on: 0, off: 0, results: undefined }),
    forget: () => undefined,
  });
  const held = new Set<Buffer>();
  let whole = 0;
  for (let revision = 2; revision <= 21; revision += 1) {
    const frames = snapshotFrames(snapshot, "");
    whole = frames.reduce((sum, { length }) => sum + length, 0);
    for (const frame of frames) held.add(frame);
    const { key } = flags[revision * 40]?.flag ?? { key: "" };
    const value = { ...flags[0]?.flag, key, enabled: true } as VersionedFlag["flag"];
    snapshot.apply({ revision, at: new Date(revision), kind: "flag", key, version: 2, value });
  }
  const bytes = [...held].reduce((sum, { length }) => sum + length, 0);
  assert.ok(whole > 900_000);
  assert.ok(bytes < 4 * whole, `20 revisions hold ${bytes} bytes, one of them ${whole}`);
});
