// GET /ofrep/v1/events: who is told to evaluate again, when, and how often.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openStream, type StreamEvent } from "./support/event-reader.ts";
import { hour, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

/** The address that the evaluation of all flags announces. */
const addressFor = async (key: string, url = server.url): Promise<string> => {
  const answer = await fetch(`${url}/ofrep/v1/evaluate/flags`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ context: { targetingKey: "u" } }),
  });
  const { eventStreams } = (await answer.json()) as { eventStreams: { url: string }[] };
  return eventStreams[0]?.url ?? "";
};

interface Refetch {
  readonly type: string;
  readonly etag: string;
  readonly lastModified: number;
}
const refetch = (event: StreamEvent | undefined) => event?.data as Refetch;

const current = async (environment: TestEnvironment): Promise<number> => {
  const list = await environment.server("GET", "/flags");
  return Number(list.headers.get("etag")?.replaceAll('"', ""));
};

suite("what a client is told", () => {
  test("to evaluate again at once when it comes for the first time, and after each change", async () => {
    const environment = await server.environment();
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    const stream = await openStream(await addressFor(environment.keys.client));
    assert.equal(stream.status, 200);
    assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(stream.headers.get("access-control-allow-origin"), "*");
    const [first] = await stream.first(1);
    assert.ok((stream.retry ?? 0) >= 1_000 && (stream.retry ?? 0) < 5_000);
    assert.equal(first?.event, "message");
    const { type, etag, lastModified } = refetch(first);
    assert.equal(type, "refetchEvaluation");
    assert.equal(etag, first?.id);
    const [revision, at = ""] = etag.split("-");
    assert.equal(revision, "1");
    assert.equal(lastModified, Math.floor(Number.parseInt(at, 36) / 1_000));
    assert.deepEqual(Object.keys(first?.data as object).sort(), ["etag", "lastModified", "type"]);

    await environment.admin("PATCH", "/flags/a", { enabled: true });
    const [, second] = await stream.first(2);
    assert.match(refetch(second).etag, /^2-/);
    stream.close();
  });

  test("to come back after different times, so that not all do at once", async () => {
    const environment = await server.environment();
    const address = await addressFor(environment.keys.client);
    const streams = await Promise.all(Array.from({ length: 8 }, () => openStream(address)));
    await Promise.all(streams.map((stream) => stream.first(1)));
    assert.equal(new Set(streams.map(({ retry }) => retry)).size, 8);
    for (const stream of streams) stream.close();
  });

  test("nothing of flags: neither their keys nor their values", async () => {
    const environment = await server.environment();
    const stream = await openStream(await addressFor(environment.keys.client));
    await environment.admin("POST", "/flags", { key: "top-secret", type: "boolean" });
    await until("the change", () => refetch(stream.events.at(-1))?.etag.startsWith("1-"));
    assert.doesNotMatch(JSON.stringify(stream.events), /top-secret/);
    stream.close();
  });

  test("of many changes at once a few times only, the last of them included", async () => {
    const environment = await server.environment();
    const stream = await openStream(await addressFor(environment.keys.client));
    await stream.first(1);
    const started = performance.now();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        environment.admin("POST", "/flags", { key: `f${index}`, type: "boolean" }),
      ),
    );
    const last = await current(environment);
    assert.equal(last, 60);
    await until("the last", () => refetch(stream.events.at(-1)).etag.startsWith("60-"));
    // One at most in 100 ms, however long it took.
    const windows = Math.ceil((performance.now() - started) / 100);
    assert.ok(
      stream.events.length <= 2 + windows,
      `${stream.events.length} events in ${windows} windows`,
    );
    stream.close();
  });

  test("who comes back and has missed nothing hears nothing new, who has missed something does", async () => {
    const environment = await server.environment();
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    const address = await addressFor(environment.keys.client);
    const stream = await openStream(address);
    const id = (await stream.first(1))[0]?.id ?? "";
    stream.close();

    const same = await openStream(address, { "last-event-id": id });
    await until("a sign of life", () => same.comments > 0);
    assert.equal(same.events.length, 0);
    await environment.admin("PATCH", "/flags/a", { enabled: true });
    await same.first(1);
    same.close();

    for (const known of [id, "0-0", "99-zzzz", "nonsense"]) {
      const behind = await openStream(address, { "last-event-id": known });
      assert.match((await behind.first(1))[0]?.id ?? "", /^2-/, known);
      behind.close();
    }
  });
});

suite("who may listen", () => {
  test("tokens that are missing, malformed, foreign or over are refused in the protocol's words", async () => {
    const environment = await server.environment();
    const address = new URL(await addressFor(environment.keys.client));
    const token = address.searchParams.get("token") ?? "";
    const elsewhere = await startTestServer();
    const stranger = await elsewhere.environment();
    const foreign = new URL(await addressFor(stranger.keys.client, elsewhere.url));
    await elsewhere.close();

    const ask = async (query: string) => {
      const answer = await fetch(`${server.url}/ofrep/v1/events${query}`);
      const body = (await answer.json()) as Record<string, unknown>;
      assert.deepEqual(Object.keys(body), ["errorDetails"], query);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      return answer.status;
    };
    assert.equal(await ask(""), 400);
    assert.equal(await ask("?token="), 401);
    assert.equal(await ask("?token=abc"), 401);
    assert.equal(await ask(`?token=${token}x`), 401);
    assert.equal(await ask(`?token=${token.slice(1)}`), 401);
    assert.equal(await ask(`?token=${environment.keys.admin}`), 401);
    assert.equal(await ask(foreign.search), 401);

    const stream = await openStream(address.href);
    await stream.first(1);
    clock.forward(2 * hour);
    assert.equal(await ask(address.search), 401);
    // The stream itself goes on, and a new address is to be had.
    await environment.admin("POST", "/flags", { key: "a", type: "boolean" });
    await stream.first(2);
    const renewed = await openStream(await addressFor(environment.keys.client));
    assert.equal(renewed.status, 200);
    for (const each of [stream, renewed]) each.close();
  });

  test("the streams of a revoked key end, and its token is of no use any more", async () => {
    const environment = await server.environment();
    const made = await environment.admin("POST", "/keys", { name: "web", role: "client" });
    const { id, key } = made.body as { id: string; key: string };
    const address = await addressFor(key);
    const other = await openStream(await addressFor(environment.keys.client));
    const stream = await openStream(address);
    await stream.first(1);
    await environment.admin("DELETE", `/keys/${id}`);
    await stream.untilEnded();
    assert.equal((await fetch(address)).status, 401);
    assert.ok(!other.ended);
    other.close();
  });

  test("pages may ask before they connect", async () => {
    const answer = await fetch(`${server.url}/ofrep/v1/events`, { method: "OPTIONS" });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.match(answer.headers.get("access-control-allow-headers") ?? "", /last-event-id/);
    assert.match(answer.headers.get("access-control-allow-methods") ?? "", /GET/);
  });
});
