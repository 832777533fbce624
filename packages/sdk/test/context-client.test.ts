// The client for one context: values from the bulk evaluation, refetched when the server says so, or by polling.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer, events } from "./support/bulk-server.ts";
import { contextClientOf } from "./support/clients.ts";
import { openStream } from "./support/scripted-server.ts";

const ada = { targetingKey: "ada", plan: "free" };

suite("values of one context", () => {
  test("are fetched at once, with reasons and errors, and never throw", async (t) => {
    const server = await bulkServer(t, { isOn: (who) => who === "ada" });
    const { client } = contextClientOf(t, server.url, { context: ada });
    assert.equal(client.details("a", true).errorCode, "PROVIDER_NOT_READY");
    assert.equal(client.isEnabled("a", true), true);
    assert.deepEqual(await client.ready(), { ok: true });
    assert.deepEqual(client.details("a"), { value: true, variant: "on", reason: "SPLIT" });
    assert.equal(client.details("colour", true).errorCode, "TYPE_MISMATCH");
    assert.equal(client.isEnabled("colour", true), true);
    assert.equal(client.details("missing", true).errorCode, "FLAG_NOT_FOUND");
    assert.deepEqual(client.values(), { a: true, r: true, colour: "red" });
    const [request] = server.to(bulk);
    assert.deepEqual(JSON.parse(request?.body ?? ""), { context: ada });
    assert.match(request?.headers.authorization ?? "", /^Bearer /);
    for (const name of [undefined, null, {}, "__proto__"]) client.isEnabled(name as never);
  });

  test("an error of one flag gives the fallback", async (t) => {
    const server = await bulkServer(t);
    const { client } = contextClientOf(t, server.url);
    await client.ready();
    assert.deepEqual(client.details("r", true), {
      value: true,
      reason: "ERROR",
      errorCode: "TARGETING_KEY_MISSING",
      errorMessage: "who?",
    });
    assert.equal(client.isEnabled("r", true), true);
    assert.deepEqual(client.values(), { a: false, colour: "red" });
  });

  test("a flag that is off has the reason DISABLED, which OFREP has in the metadata", async (t) => {
    const server = await bulkServer(t);
    server.answer(bulk, (response) =>
      response
        .writeHead(200)
        .end(
          '{"flags":[{"key":"a","value":false,"variant":"off","reason":"STATIC","metadata":{"reason":"DISABLED"}}]}',
        ),
    );
    const { client } = contextClientOf(t, server.url);
    await client.ready();
    assert.deepEqual(client.details("a"), { value: false, variant: "off", reason: "DISABLED" });
  });

  test("a notification makes it ask again, with what was announced", async (t) => {
    const server = await bulkServer(t);
    const { client, names, changed } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    // Once it is open the client looks again, for what happened before.
    await until("the second look", () => server.to(bulk).length > 1);
    server.change({ isOn: () => true });
    await until("a is on", () => client.isEnabled("a"));
    assert.deepEqual(changed(), ["a"]);
    assert.deepEqual(names(), ["ready", "change"]);
    const last = server.to(bulk).at(-1);
    const query = new URL(last?.url ?? "", server.url).searchParams;
    assert.deepEqual(
      [query.get("flagConfigEtag"), query.get("flagConfigLastModified")],
      ["2-x", "1794657603"],
    );
    assert.equal(last?.headers["if-none-match"], '"1-ada"');
    const [stream] = server.to(events);
    assert.equal(
      stream?.headers.authorization,
      undefined,
      "the key is not for the stream's address",
    );
  });

  test("a change that could not be fetched at once is fetched later, without another notification", async (t) => {
    const server = await bulkServer(t);
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    await until("the second look", () => server.to(bulk).length > 1);
    server.change({ isOn: () => true, isBroken: true });
    await until("stale", () => client.state === "stale");
    server.state.isBroken = false;
    await until("a is on", () => client.isEnabled("a"));
    await until("live", () => client.state === "live");
    await until("the stream again", () => server.open.size > 0);
  });

  test("what happened before the stream was open is fetched", async (t) => {
    const server = await bulkServer(t);
    server.answer(events, (response) => {
      server.state.isOn = () => true;
      server.state.revision = 2;
      openStream(response);
      response.write(":\n\n");
    });
    const { client } = contextClientOf(t, server.url, { context: ada });
    await until("a is on", () => client.isEnabled("a"));
    assert.equal(server.to(events).length, 1);
  });

  test("after a lost stream, what happened meanwhile is fetched, and another stream opens", async (t) => {
    const server = await bulkServer(t);
    const { client, names } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    server.change({});
    await until("the refetch", () => server.to(bulk).some(({ url }) => url.includes("2-x")));
    server.state.isOn = () => true;
    server.state.revision = 3;
    for (const response of server.open) response.end();
    await until("a is on", () => client.isEnabled("a"));
    await until("the second stream", () => server.to(events).length === 2);
    assert.deepEqual(names().slice(0, 4), ["ready", "error", "stale", "change"]);
    await until("reconnected", () => names().includes("reconnected"));
  });

  for (const status of [401, 502]) {
    test(`${status} for streams alone ends with a stream, not with minutes of polling`, async (t) => {
      const server = await bulkServer(t);
      let outage = true;
      server.answer(events, (response) => {
        if (outage) return response.writeHead(status).end("{}");
        openStream(response);
        server.open.add(response);
        return response.write(":\n\n");
      });
      const timing = { pollInterval: 3_600_000, streamRetry: 3_600_000 };
      const { client } = contextClientOf(t, server.url, { context: ada, timing });
      await client.ready();
      await until("several attempts to stream", () => server.to(events).length > 5);
      assert.equal(client.state, "live");
      outage = false;
      await until("the stream", () => server.open.size > 0);
      server.change({ isOn: () => true });
      await until("a is on", () => client.isEnabled("a"));
    });
  }

  test("an outage during long polling ends with an attempt to stream", async (t) => {
    const server = await bulkServer(t);
    let streams = false;
    server.answer(events, (response) => {
      if (!streams) return response.writeHead(404).end();
      openStream(response);
      return response.write(":\n\n");
    });
    const timing = { streamRetry: 3_600_000 };
    const { client } = contextClientOf(t, server.url, { context: ada, timing });
    await until("several polls", () => server.to(bulk).length > 3);
    assert.equal(server.to(events).length, 1);
    server.state.isBroken = true;
    await until("stale", () => client.state === "stale");
    streams = true;
    server.state.isBroken = false;
    await until("the stream", () => client.transport === "stream");
  });

  test("a token that has run out is replaced by asking for everything", async (t) => {
    const server = await bulkServer(t);
    const { client } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size > 0);
    server.state.token = "second";
    for (const response of server.open) response.end();
    await until("the stream with the new token", () =>
      server.to(events).some(({ url }) => url.endsWith("second")),
    );
    const whole = server.to(bulk).filter(({ headers }) => headers["if-none-match"] === undefined);
    assert.equal(whole.length, 2);
  });

  test("polls where no stream is announced, and where the stream cannot be had", async (t) => {
    for (const token of [undefined, "first"]) {
      const server = await bulkServer(t, { token });
      server.answer(events, (response) => response.writeHead(404).end());
      const { client, names } = contextClientOf(t, server.url, { context: ada });
      await client.ready();
      await until("polls", () => server.to(bulk).length > 3);
      server.state.revision = 2;
      server.state.isOn = () => true;
      await until("a is on", () => client.isEnabled("a"));
      assert.deepEqual(names(), ["ready", "change"]);
      assert.equal(
        server.to(events).length,
        token === undefined ? 0 : 1,
        "no stream again so soon",
      );
      await client.close();
    }
  });

  test("a stream that fails once is tried again before polling", async (t) => {
    const server = await bulkServer(t);
    server.answer(events, (response) => {
      if (server.to(events).length === 1) return response.destroy();
      openStream(response);
      return response.write(":\n\n");
    });
    const { client, names } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the second attempt", () => server.to(events).length === 2);
    assert.deepEqual(names(), ["ready"]);
  });

  test("streaming can be switched off", async (t) => {
    const server = await bulkServer(t);
    const { client } = contextClientOf(t, server.url, { context: ada, streaming: false });
    await client.ready();
    await until("polls", () => server.to(bulk).length > 3);
    assert.equal(server.to(events).length, 0);
  });
});

suite("trouble", () => {
  test("a rejected key is reported, and tried again soon, however long other pauses may be", async (t) => {
    const server = await bulkServer(t);
    const refusing = contextClientOf(t, `${server.url}/elsewhere`, {
      context: ada,
      timing: { maximumDelay: 3_600_000 },
    });
    server.answer("POST /elsewhere/ofrep/v1/evaluate/flags", (response) =>
      response.writeHead(401).end('{"errorDetails":"no such key"}'),
    );
    assert.equal((await refusing.client.ready({ timeout: 60_000 })).ok, false);
    assert.equal(refusing.client.state, "failed");
    assert.equal(refusing.errors()[0], "UNAUTHORIZED");
    server.answer("POST /elsewhere/ofrep/v1/evaluate/flags", (response) =>
      response.writeHead(200).end('{"flags":[{"key":"a","value":true,"reason":"STATIC"}]}'),
    );
    await until("live", () => refusing.client.state === "live");
    assert.equal(refusing.client.isEnabled("a"), true);
  });

  for (const [name, body] of [
    ["no JSON", "<html>"],
    ["no flags", "{}"],
    ["null", "null"],
  ] as const) {
    test(`an answer that is none (${name}) leaves everything as it was`, async (t) => {
      const server = await bulkServer(t);
      server.answer(bulk, (response) => response.writeHead(200).end(body));
      const { client, errors } = contextClientOf(t, server.url, { bootstrap: { a: true } });
      await until("errors", () => errors().length > 1);
      assert.deepEqual([...new Set(errors())], ["UNEXPECTED_ANSWER"]);
      assert.deepEqual(client.details("a"), { value: true, variant: "on", reason: "CACHED" });
    });
  }
});

suite("a page", () => {
  test("that is hidden for long lets go of the stream, and fetches everything when it is back", async (t) => {
    const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
    const look = (visibilityState: string) => {
      page.visibilityState = visibilityState;
      page.dispatchEvent(new Event("visibilitychange"));
    };
    Object.assign(globalThis, { document: page });
    t.after(() => void Reflect.deleteProperty(globalThis, "document"));
    const server = await bulkServer(t, { inactivityDelaySec: 0.05 });
    const { client, names } = contextClientOf(t, server.url, { context: ada });
    await client.ready();
    await until("the stream", () => server.open.size === 1);

    look("hidden");
    await until("the stream's end", () => server.open.size === 0);
    assert.deepEqual([client.state, client.error?.code], ["stale", "PAUSED"]);
    server.change({ isOn: () => true });
    const before = server.to(bulk).length;
    look("visible");
    await until("a is on", () => client.isEnabled("a"));
    assert.equal(server.to(bulk)[before]?.headers["if-none-match"], undefined);
    await until("the stream again", () => server.open.size === 1);
    assert.equal(client.state, "live");
    assert.deepEqual(names(), ["ready", "stale", "change", "reconnected"]);

    look("hidden");
    look("visible");
    assert.equal(server.open.size, 1);
  });
});
