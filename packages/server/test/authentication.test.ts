// Who may ask what: how a key is presented, what a role may do, and that an environment is closed to the keys of others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const assertUnauthorized = (answer: Answer, ...words: string[]): void => {
  assertRefused(answer, 401, ...words);
  assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="halyard"');
};

test("a key is taken as a Bearer token or as X-API-Key, or as both when they are equal", async () => {
  const { keys } = await server.environment();
  const key = keys.admin;
  for (const headers of [
    { authorization: `Bearer ${key}` },
    { authorization: `bearer ${key}` },
    { authorization: `BEARER   ${key}` },
    { Authorization: `Bearer ${key}  ` },
    { "x-api-key": key },
    { "X-API-Key": ` ${key} ` },
    { authorization: `Bearer ${key}`, "x-api-key": key },
  ]) {
    const answer = await server.anonymous("GET", "/flags", undefined, headers);
    assert.equal(answer.status, 200, `${JSON.stringify(headers)}: ${answer.text}`);
    assert.equal(answer.headers.get("www-authenticate"), null);
  }
});

test("two different keys are refused, even when both are good", async () => {
  const { keys } = await server.environment();
  for (const [bearer, plain] of [
    [keys.admin, keys.server],
    [keys.admin, "nonsense"],
    ["nonsense", keys.admin],
    [keys.admin, ""],
    [keys.admin, `${keys.admin}, ${keys.admin}`],
  ]) {
    const headers = { authorization: `Bearer ${bearer}`, "x-api-key": plain ?? "" };
    assertUnauthorized(
      await server.anonymous("GET", "/flags", undefined, headers),
      "different keys",
    );
  }
});

test("no key, a malformed one and another scheme are 401, with the way to do it right", async () => {
  const { keys } = await server.environment();
  const key = keys.admin;
  const basic = Buffer.from(`user:${key}`).toString("base64");
  for (const headers of [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer " },
    { authorization: key },
    { authorization: `Bearer${key}` },
    { authorization: `Bearer ${key} ${key}` },
    { authorization: `Bearer ${key},Bearer ${key}` },
    { authorization: `Basic ${basic}` },
    { authorization: `Token ${key}` },
    { authorization: `Digest ${key}` },
    { authorization: `Basic ${basic}`, "x-api-key": key },
    { "x-api-key": "" },
    { "x-api-key": `Bearer ${key}` },
    { cookie: `key=${key}` },
  ] as Readonly<Record<string, string>>[]) {
    const answer = await server.anonymous("GET", "/flags", undefined, headers);
    assertUnauthorized(answer, "API");
    assert.ok(!answer.text.includes(key), "a refusal repeats the key");
  }
  assertUnauthorized(await server.anonymous("GET", `/flags?api_key=${key}`));
});

test("a key that is almost right is refused as one that never was", async () => {
  const { keys } = await server.environment();
  const key = keys.admin;
  const [, id = "", secret = ""] = key.split("_", 2).concat(key.slice(-43));
  const wrongs = [
    key.slice(0, -1),
    `${key}A`,
    `${key.slice(0, -2)}${key.endsWith("AA") ? "BB" : "AA"}`,
    key.toUpperCase(),
    `hal_0123456789abcdef_${secret}`,
    `hal_${id}_`,
    `hal_${id}`,
    id,
    secret,
    keys.server.replace(/^hal_[0-9a-f]+/, `hal_${id}`),
    "hal_",
    "é".repeat(20),
    "a".repeat(8_000),
    "' or 1=1 --",
    "__proto__",
  ];
  const messages = new Set<string>();
  for (const wrong of wrongs) {
    const headers = { "x-api-key": wrong };
    const answer = await server.anonymous("GET", "/flags", undefined, headers);
    assertUnauthorized(answer, "not valid");
    messages.add(answer.text);
  }
  assert.equal(messages.size, 1, "the answer tells which part was wrong");
});

test("HEAD needs the same key as GET, and paths without a role need none", async () => {
  const { keys } = await server.environment();
  const head = (key?: string) =>
    fetch(`${server.url}/api/v1/keys`, {
      method: "HEAD",
      headers: key ? { "x-api-key": key } : {},
    });
  assert.deepEqual(
    [(await head()).status, (await head(keys.server)).status, (await head(keys.admin)).status],
    [401, 403, 200],
  );
  for (const path of ["//healthz", "//readyz", "//openapi.json", "//docs/"]) {
    assert.equal((await server.anonymous("GET", path)).status, 200, path);
  }
});

test("a key of one environment sees nothing of another, and changes nothing in it", async () => {
  const [here, there] = [await server.environment(), await server.environment()];
  const make = async (api: Api) => {
    await api("POST", "/flags", { key: "shared-name", type: "boolean", description: "mine" });
    const hook = { url: "http://127.0.0.1:9/", events: ["*"] };
    return ((await api("POST", "/webhooks", hook)).body as { id: string }).id;
  };
  const webhook = await make(there.admin);
  const paths = [
    "/flags",
    "/flags/shared-name",
    "/flags/shared-name/history",
    "/webhooks",
    "/keys",
  ];
  // Looking is using a key.
  const withoutUse = (text: string) => text.replaceAll(/"lastUsedAt":("[^"]*"|null)/g, "");
  const look = async () =>
    (await Promise.all(paths.map((path) => there.admin("GET", path)))).map(({ text }) =>
      withoutUse(text),
    );
  const before = await look();

  assert.deepEqual((await here.admin("GET", "/flags")).body, []);
  assert.deepEqual((await here.admin("GET", "/webhooks")).body, []);
  for (const [method, path, body] of [
    ["GET", "/flags/shared-name"],
    ["GET", "/flags/shared-name/history"],
    ["PATCH", "/flags/shared-name", { enabled: true }],
    ["DELETE", "/flags/shared-name"],
    ["GET", `/webhooks/${webhook}`],
    ["PATCH", `/webhooks/${webhook}`, { active: false }],
    ["DELETE", `/webhooks/${webhook}`],
  ] as const) {
    assertRefused(await here.admin(method, path, body), 404);
  }
  const foreign = (await there.admin("GET", "/keys")).body as { id: string }[];
  for (const { id } of foreign) assertRefused(await here.admin("DELETE", `/keys/${id}`), 404, id);
  await make(here.admin);
  await here.admin("DELETE", "/flags/shared-name");
  assert.deepEqual(await look(), before);
});
