// All flags at once by the OpenFeature protocol: the answer, its entity tag, and being as new as the client has heard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bulkBody, changeFlag, evaluateAll, makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const contextOf = (targetingKey: string) => ({ context: { targetingKey } });
const tagOf = ({ headers }: { headers: Headers }): string => headers.get("etag") ?? "";

/** Two flags, and two users for whom the second differs. */
const withRollout = async (): Promise<TestEnvironment & { users: readonly [string, string] }> => {
  const environment = await server.environment();
  const { admin, client } = environment;
  await makeFlag(admin, { key: "b", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "a", type: "rollout", percentage: 50, enabled: true });
  const found = new Map<boolean, string>();
  for (let user = 0; found.size < 2; user++) {
    const { flags } = bulkBody(await evaluateAll(client, contextOf(`user-${user}`)));
    found.set(flags[0]?.value ?? false, `user-${user}`);
  }
  return { ...environment, users: [found.get(true) ?? "", found.get(false) ?? ""] };
};

test("every flag in the order of the keys, with what cannot be evaluated among them", async () => {
  const { name, admin, client } = await server.environment();
  assert.deepEqual(bulkBody(await evaluateAll(client)).flags, []);
  await makeFlag(admin, { key: "c", type: "boolean" });
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  await makeFlag(admin, { key: "B", type: "rollout", percentage: 50, enabled: true });
  const { body, headers, status } = await evaluateAll(client);
  assert.equal(status, 200);
  const { flags, metadata, eventStreams, ...rest } = body as Record<string, unknown>;
  assert.deepEqual([metadata, rest], [{ environment: name }, {}]);
  const [first, ...others] = flags as { errorDetails: unknown }[];
  const { errorDetails, ...failure } = first ?? {};
  assert.equal(typeof errorDetails, "string");
  assert.deepEqual(failure, { key: "B", errorCode: "TARGETING_KEY_MISSING" });
  assert.deepEqual(others, [
    { key: "a", value: true, reason: "STATIC", variant: "on" },
    {
      key: "c",
      value: false,
      reason: "STATIC",
      variant: "off",
      metadata: { reason: "DISABLED" },
    },
  ]);
  const [stream] = eventStreams as Record<string, unknown>[];
  const { url, ...announced } = stream ?? {};
  assert.deepEqual(announced, { type: "sse", inactivityDelaySec: 120 });
  assert.ok(String(url).startsWith(`${server.url}/ofrep/v1/events?token=`), String(url));
  assert.match(headers.get("etag") ?? "", /^"[\w-]{20,}"$/);
  assert.match(headers.get("access-control-expose-headers") ?? "", /\betag\b/);
});

test("whatever was created, changed and deleted, the answer holds the very bytes of each flag's own", async () => {
  const { admin, client, server: reader } = await server.environment();
  const keys = Array.from({ length: 12 }, (_, index) => `flag-${String.fromCharCode(97 + index)}`);
  for (const key of keys)
    await makeFlag(admin, { key, type: "rollout", percentage: 50, enabled: true });
  const tags = new Set<string>();
  const contexts = ["bob", "日本", "a longer key than the others have", "ann"].map(contextOf);
  const isWhole = async () => {
    for (const api of [client, reader]) {
      for (const context of [{ context: {} }, ...contexts]) {
        const { text, headers } = await evaluateAll(api, context);
        const own = await Promise.all(
          keys.toSorted().map((key) => api("POST", `//ofrep/v1/evaluate/flags/${key}`, context)),
        );
        const list = `{"flags":[${own.map((each) => each.text).join(",")}],`;
        assert.equal(text.slice(0, list.length), list);
        assert.equal(Number(headers.get("content-length") ?? text.length), Buffer.byteLength(text));
        if (context === contexts.at(-1)) tags.add(tagOf({ headers }));
      }
    }
  };
  await isWhole();
  await changeFlag(admin, "flag-c", { percentage: 100 });
  await changeFlag(admin, "flag-d", { enabled: false });
  await isWhole();
  await changeFlag(admin, "flag-c", { percentage: 40 });
  await isWhole();
  await admin("DELETE", `/flags/${keys.shift()}`);
  await isWhole();
  const when = { attribute: "targetingKey", op: "in", values: ["ann"] };
  await admin("DELETE", "/flags/flag-f");
  await makeFlag(admin, { key: "flag-f", type: "boolean", enabled: true });
  await changeFlag(admin, "flag-f", {
    otherwise: "off",
    rules: [{ id: "ann", when, serve: "on" }],
  });
  await isWhole();
  await makeFlag(admin, { key: "first", type: "boolean", enabled: true });
  keys.push("first");
  await isWhole();
  await admin("DELETE", `/flags/${keys.pop()}`);
  await admin("DELETE", `/flags/${keys.pop()}`);
  await isWhole();
  // Two keys, since an address of the stream is a key's own, and an answer after each of the seven steps.
  assert.equal(tags.size, 14);
});

test("If-None-Match gives 304 without a body, in every way to write it", async () => {
  const { client, users } = await withRollout();
  const first = await evaluateAll(client, contextOf(users[0]));
  const tag = tagOf(first);
  for (const header of [tag, `W/${tag}`, `"x", ${tag}`, `W/"x",W/${tag} , "y"`, "*", ` ${tag} `]) {
    const again = await evaluateAll(client, contextOf(users[0]), { "if-none-match": header });
    assert.equal(again.status, 304, header);
    assert.equal(tagOf(again), tag);
    assert.match(again.headers.get("access-control-expose-headers") ?? "", /\betag\b/);
  }
  for (const header of ['"x"', tag.replaceAll('"', ""), "W/", `${tag.slice(0, -1)}x"`, ""]) {
    const again = await evaluateAll(client, contextOf(users[0]), { "if-none-match": header });
    assert.equal(again.status, 200, header);
    assert.equal(again.text, first.text);
  }
});

test("another context never gets a 304 for the answer of the first", async () => {
  const { client, users } = await withRollout();
  const first = await evaluateAll(client, contextOf(users[0]));
  const headers = { "if-none-match": tagOf(first) };
  const other = await evaluateAll(client, contextOf(users[1]), headers);
  assert.equal(other.status, 200);
  assert.notDeepEqual(bulkBody(other).flags, bulkBody(first).flags);
  const nobody = await evaluateAll(client, { context: {} }, headers);
  assert.equal(nobody.status, 200);
  const sameValues = await evaluateAll(
    client,
    { context: { targetingKey: users[0], plan: "x" } },
    headers,
  );
  assert.equal(sameValues.status, 304, "an attribute that no flag looks at changes nothing");
});

test("a change that the answer does not show keeps the tag, one that it shows changes it", async () => {
  const { admin, client, users } = await withRollout();
  const tag = tagOf(await evaluateAll(client, contextOf(users[0])));
  const again = async () => evaluateAll(client, contextOf(users[0]), { "if-none-match": tag });
  await changeFlag(admin, "b", { description: "for people" });
  assert.equal((await again()).status, 304);
  await changeFlag(admin, "b", { enabled: false });
  const changed = await again();
  assert.equal(changed.status, 200);
  assert.notEqual(tagOf(changed), tag);
  await changeFlag(admin, "b", { enabled: true });
  assert.equal((await again()).status, 304, "as it was before");
  assert.equal((await admin("DELETE", "/flags/a")).status, 204);
  assert.equal((await again()).status, 200);
});

test("two environments with the same flags do not share a tag", async () => {
  const tags = [];
  for (const { admin, client } of [await server.environment(), await server.environment()]) {
    await makeFlag(admin, { key: "a", type: "boolean" });
    tags.push(tagOf(await evaluateAll(client)));
  }
  assert.notEqual(tags[0], tags[1]);
});

test("the address of the event stream is renewed with a new answer before its token is over", async (t) => {
  let now = Date.parse("2026-11-14T12:00:30Z");
  const other = await startTestServer({}, { clock: () => new Date(now) });
  t.after(() => other.close());
  const { client } = await other.environment();
  const first = await evaluateAll(client);
  const headers = { "if-none-match": tagOf(first) };
  now += 60_000;
  assert.equal((await evaluateAll(client, undefined, headers)).status, 304);
  now += 3_600_000;
  const renewed = await evaluateAll(client, undefined, headers);
  assert.equal(renewed.status, 200);
  assert.notEqual(bulkBody(renewed).eventStreams?.[0]?.url, bulkBody(first).eventStreams?.[0]?.url);
});

test("what the client has heard of is waited for, whichever instance it asks", async (t) => {
  const other = await startTestServer({ HALYARD_DATA: server.folder });
  t.after(() => other.close());
  const { admin, keys } = await server.environment();
  const behind = other.api(keys.client);
  await makeFlag(admin, { key: "a", type: "boolean" });
  for (let turn = 0; turn < 40; turn++) {
    const enabled = turn % 2 === 0;
    await changeFlag(admin, "a", { enabled });
    const { headers } = await admin("GET", "/flags");
    const revision = headers.get("etag")?.replaceAll('"', "");
    const history = (await admin("GET", "/flags/a/history?limit=1")).body as {
      createdAt: string;
    }[];
    const [change] = history;
    const query =
      turn % 4 < 2
        ? `?flagConfigEtag=${revision}-0`
        : `?flagConfigLastModified=${change?.createdAt}`;
    const { flags } = bulkBody(await evaluateAll(behind, undefined, {}, query));
    assert.equal(flags[0]?.value, enabled, query);
  }
});

test("what the client has heard of never makes a 304 by itself, and nonsense is passed over", async () => {
  const { client, users, admin } = await withRollout();
  const { headers } = await admin("GET", "/flags");
  const revision = headers.get("etag")?.replaceAll('"', "");
  const first = await evaluateAll(client, contextOf(users[0]));
  for (const query of [
    `?flagConfigEtag=${revision}-0`,
    "?flagConfigEtag=999999999-zzz",
    "?flagConfigEtag=",
    "?flagConfigEtag=%22x%22&flagConfigEtag=y",
    "?flagConfigEtag=-1&flagConfigLastModified=-5",
    "?flagConfigLastModified=99999999999",
    "?flagConfigLastModified=2099-01-01T00:00:00Z",
    "?flagConfigLastModified=2026-99-99T99:99:99Z",
    "?flagConfigLastModified=yesterday",
    "?later=1",
  ]) {
    const answer = await evaluateAll(client, contextOf(users[0]), {}, query);
    assert.equal(answer.status, 200, query);
    assert.equal(answer.text, first.text);
    const other = await evaluateAll(
      client,
      contextOf(users[1]),
      { "if-none-match": tagOf(first) },
      query,
    );
    assert.equal(other.status, 200, query);
  }
});

test("evaluating everything counts as a use of nothing", async () => {
  const { client, users, server: reader } = await withRollout();
  await evaluateAll(client, contextOf(users[0]));
  const uses = (await reader("GET", "/usage")).body as { on: number; off: number }[];
  assert.deepEqual(
    uses.map(({ on, off }) => [on, off]),
    [
      [0, 0],
      [0, 0],
    ],
  );
});

test("a body that cannot be used fails as a whole", async () => {
  const { client } = await withRollout();
  for (const [body, errorCode] of [
    ["{", "PARSE_ERROR"],
    ["", "PARSE_ERROR"],
    ["{}", "INVALID_CONTEXT"],
    ['{"context":[]}', "INVALID_CONTEXT"],
    ['{"context":{"targetingKey":7}}', "INVALID_CONTEXT"],
  ] as const) {
    const answer = await evaluateAll(client, body);
    assert.equal(answer.status, 400, body);
    const { errorDetails, ...rest } = answer.body as Record<string, unknown>;
    assert.deepEqual([rest, typeof errorDetails], [{ errorCode }, "string"]);
  }
});

test("the stream's address is where the client found the server, or where the setting says", async (t) => {
  const streamUrl = async (at: TestServer, headers: Readonly<Record<string, string>>) => {
    const { client } = await at.environment();
    const url = bulkBody(await evaluateAll(client, undefined, headers)).eventStreams?.[0]?.url;
    return url && new URL(url).origin + new URL(url).pathname;
  };
  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "flags.example.com" };
  assert.equal(await streamUrl(server, forwarded), `${server.url}/ofrep/v1/events`);
  const behindProxy = await startTestServer({ HALYARD_TRUST_PROXY: "127.0.0.1" });
  t.after(() => behindProxy.close());
  assert.equal(
    await streamUrl(behindProxy, forwarded),
    "https://flags.example.com/ofrep/v1/events",
  );
  const evil = { ...forwarded, "x-forwarded-host": 'evil.example/"?x=' };
  assert.equal(await streamUrl(behindProxy, evil), undefined);
  const named = await startTestServer({ HALYARD_PUBLIC_URL: "https://a.example/flags/" });
  t.after(() => named.close());
  assert.equal(await streamUrl(named, {}), "https://a.example/flags/ofrep/v1/events");
});
