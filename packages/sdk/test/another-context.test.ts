// The client for one context when its context changes: the new values, and what happens when they cannot be fetched.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";
import { contextClientOf } from "./support/clients.ts";

const ada = { targetingKey: "ada", plan: "free" };

suite("another context", () => {
  test("brings its own values, and an old tag is not sent for it", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client, changed } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    assert.equal(client.isEnabled("a"), false);
    assert.equal(await client.setContext({ targetingKey: "bob" }), true);
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(changed(), ["a"]);
    const asBob = server.to(bulk).filter(({ body }) => body.includes("bob"));
    assert.equal(asBob[0]?.headers["if-none-match"], undefined);
  });

  test("the last of several wins, and every caller waits for it", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "eve" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    const all = ["bob", "cyd", "eve"].map((targetingKey) => client.setContext({ targetingKey }));
    assert.equal(await all[0], true);
    assert.equal(client.isEnabled("a"), true);
    assert.deepEqual(await Promise.all(all), [true, true, true]);
  });

  test("ends a request that hangs for the context before, and is fetched once", async (t) => {
    const hangs = (who: string) => who === "ada";
    const server = await bulkServer(t, { isOn: (who) => who === "bob", hangs });
    const { client, names } = contextClientOf(t, server.url, {
      context: ada,
      timing: { requestTimeout: 3_600_000 },
    });
    await until("the request that hangs", () => server.hanging.size === 1);
    const first = client.setContext({ targetingKey: "ada", plan: "pro" });
    await until("the second request", () => server.to(bulk).length === 2);
    assert.equal(await client.setContext({ targetingKey: "bob" }), true);
    assert.equal(await first, true, "the last context counts");
    assert.equal(client.isEnabled("a"), true);
    await until("the end of the requests that hang", () => server.hanging.size === 0);
    await until("the stream", () => server.open.size > 0);
    const unconditional = server
      .to(bulk)
      .filter(({ headers }) => headers["if-none-match"] === undefined);
    assert.deepEqual(
      unconditional.map(({ body }) => (JSON.parse(body) as { context: object }).context),
      [ada, { targetingKey: "ada", plan: "pro" }, { targetingKey: "bob" }],
    );
    assert.deepEqual(names(), ["ready"]);
  });

  test("is one change, whatever the server still sends for the context before", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client, changed, count } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    await until("the second look", () => server.to(bulk).length > 1);
    server.change({ hangs: (who) => who === "ada" });
    await until("a request that hangs", () => server.hanging.size === 1);
    const [hanging] = server.hanging;
    const set = client.setContext({ targetingKey: "bob" });
    hanging?.end('{"flags":[{"key":"colour","value":"blue","reason":"STATIC"}]}');
    assert.equal(await set, true);
    server.change({});
    await until("the last change", () => server.to(bulk).some(({ url }) => url.includes("3-x")));
    assert.deepEqual(changed(), ["a"]);
    assert.deepEqual([count("change"), count("error")], [1, 0]);
  });

  test("that is set while a response is read gets none of its values, and not its tag", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "ada" });
    let set: Promise<boolean> | undefined;
    const { client, changed } = contextClientOf(t, server.url, {
      context: ada,
      async fetch(...request) {
        const response = await fetch(...request);
        const json = response.json.bind(response);
        return Object.assign(response, {
          async json() {
            const body: unknown = await json();
            set ??= client.setContext({ targetingKey: "bob" });
            return body;
          },
        });
      },
    });
    await client.ready();
    assert.equal(await set, true);
    assert.equal(client.isEnabled("a"), false);
    assert.deepEqual(changed(), []);
    const [asBob] = server.to(bulk).filter(({ body }) => body.includes("bob"));
    assert.equal(asBob?.headers["if-none-match"], undefined);
  });

  test("that is the same in another order needs no request", async (t) => {
    const server = await bulkServer(t);
    const at = new Date(0);
    const context = { targetingKey: "ada", at, org: { id: 1, tags: ["x", { b: 1, a: 2 }] } };
    const { client } = contextClientOf(t, server.url, { context, streaming: false });
    const same = {
      at: at.toISOString(),
      nothing: undefined,
      org: { tags: ["x", { a: 2, b: 1 }], id: 1 },
      targetingKey: "ada",
    };
    const early = client.setContext(same);
    await client.ready();
    assert.equal(await early, true);
    assert.equal(await client.setContext(same), true);
    const unconditional = () =>
      server.to(bulk).filter(({ headers }) => headers["if-none-match"] === undefined);
    assert.equal(unconditional().length, 1);
    assert.equal(await client.setContext({ ...same, org: { id: 1, tags: ["x"] } }), true);
    assert.equal(unconditional().length, 2);
  });

  test("that cannot be read as JSON is not taken for the one before", async (t) => {
    const server = await bulkServer(t);
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    const endless: Record<string, unknown> = { targetingKey: "ada" };
    endless.self = endless;
    assert.equal(await client.setContext(endless), false);
    assert.equal(await client.setContext(ada), true);
  });

  test("that comes before the first answer is what is ready, with its stream", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client, names } = contextClientOf(t, server.url, {
      context: ada,
      timing: { pollInterval: 600_000 },
    });
    const set = client.setContext({ targetingKey: "bob" });
    assert.deepEqual(await client.ready(), { ok: true });
    assert.equal(client.isEnabled("a"), true);
    assert.equal(await set, true);
    await until("the stream", () => server.open.size > 0);
    assert.deepEqual(names(), ["ready"]);
  });

  test("that cannot be fetched is tried on while the stream goes on", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    server.state.isBroken = true;
    assert.equal(await client.setContext({ targetingKey: "bob" }), false);
    server.state.isBroken = false;
    await until("a is on", () => client.isEnabled("a"));
  });

  test("leaves the previous values as STALE until its own are loaded", async (t) => {
    const server = await bulkServer(t, { isOn: () => true });
    const { client, names } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    const previous = { value: true, variant: "on", reason: "STALE" };
    assert.deepEqual(client.details("a"), { ...previous, reason: "SPLIT" });
    server.state.isBroken = true;
    const failing = client.setContext({ targetingKey: "bob" });
    assert.deepEqual(client.details("a"), previous);
    assert.equal(await failing, false);
    assert.deepEqual(client.details("a"), previous);
    assert.equal(client.details("missing").errorCode, "FLAG_NOT_FOUND");
    assert.deepEqual(names().slice(0, 3), ["ready", "error", "stale"]);
    server.state.isBroken = false;
    await until("the values of bob", () => client.details("a").reason === "SPLIT");
    assert.equal(names().includes("change"), false, "the values are the same");
    assert.equal(await client.setContext({ targetingKey: "bob" }), true);
  });

  test("of another user withholds the previous values where the program wants that", async (t) => {
    const server = await bulkServer(t, { isOn: () => true });
    const { client, changed } = contextClientOf(t, server.url, {
      context: ada,
      keepPreviousValues: false,
      bootstrap: { a: true },
    });
    await client.ready();
    server.state.isBroken = true;
    assert.equal(await client.setContext({ ...ada, plan: "pro" }), false);
    assert.equal(client.details("a").reason, "STALE", "the same user");
    const before = changed().length;
    const leaving = client.setContext({});
    assert.equal(client.details("a", false).errorCode, "PROVIDER_NOT_READY");
    assert.equal(await leaving, false);
    assert.deepEqual([client.isEnabled("a", false), client.values()], [false, {}]);
    assert.deepEqual(changed().slice(before), ["a", "r", "colour"]);
    server.state.isBroken = false;
    await until("values", () => client.isEnabled("a"));
    assert.deepEqual(changed().slice(before + 3), ["a", "r", "colour"]);
  });

  test("that cannot be fetched is tried on, and the old values hold until then", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "bob" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await server.stop();
    assert.equal(await client.setContext({ targetingKey: "bob" }), false);
    assert.equal(client.isEnabled("a"), false);
    assert.equal(client.state, "stale");
    await server.listen();
    await until("a is on", () => client.isEnabled("a"));
    await until("live", () => client.state === "live");
  });
});
