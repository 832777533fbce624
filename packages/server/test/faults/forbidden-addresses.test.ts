// Forbidden addresses in many spellings: refused at registration, at delivery, and when a name comes to mean another place.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { assertRefused } from "../support/answers.ts";
import { type Api, createApi } from "../support/api.ts";
import { writeRows } from "../support/database.ts";
import { createFlag, logWhen, register, wasAttempted } from "../support/delivery-log.ts";
import { loopback, neverPublic, words } from "../support/forbidden-addresses.ts";
import { type Canary, startCanary } from "../support/hostile-canary.ts";
import { minute, movableClock } from "../support/movable-clock.ts";
import { newFolder, startTestServer, type TestServer } from "../support/server.ts";

const corpus = [...loopback, ...neverPublic];
/** Opened by the setting, so that it stands for a harmless place without leaving this machine. */
const harmless = "127.5.5.5";

let canary: Canary;
before(async () => {
  canary = await startCanary(["127.0.0.1", "::1"]);
});
after(() => canary.close());

const settings = () => ({
  HOST: "0.0.0.0",
  HALYARD_CALLBACK_PORTS: `443,${canary.port}`,
  HALYARD_CALLBACK_ALLOW: `${harmless}/32`,
  HALYARD_RATE_LIMIT: "0",
});

/** A new environment of a server that listens everywhere, called on loopback. */
const adminOf = async (server: TestServer): Promise<Api> =>
  createApi(server.url.replace("0.0.0.0", "127.0.0.1"), (await server.environment()).keys.admin);

const unknownName = () => Promise.reject(new Error("no such name"));

test("at registration every spelling is refused with the reason", async (t) => {
  const server = await startTestServer(settings(), { lookUp: unknownName });
  t.after(() => server.close());
  const admin = await adminOf(server);
  assert.ok(new Set(corpus).size >= 60);
  for (const host of corpus) {
    for (const url of [`https://${host}/`, `http://${host}:${canary.port}/x`]) {
      const answer = await admin("POST", "/webhooks", { url, events: ["*"] });
      assertRefused(answer, 400, "url must not go to", "not a public address");
    }
  }
  assert.deepEqual((await admin("GET", "/webhooks")).body, []);
  t.diagnostic(`${corpus.length} spellings`);
  assert.deepEqual(canary.visits, []);
});

test("at delivery every spelling that has got into the store all the same is refused", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const urls = corpus.flatMap((host) => [
    `https://${host}:${canary.port}/`,
    `http://${host}:${canary.port}/x`,
  ]);
  const kept = { ...settings(), HALYARD_DATA: folder };
  const first = await startTestServer(kept, { lookUp: unknownName });
  const hooks: { key: string; id: string; url: string }[] = [];
  let key = "";
  for (const [index, url] of urls.entries()) {
    if (index % 90 === 0) key = (await first.environment()).keys.admin;
    const admin = createApi(first.url.replace("0.0.0.0", "127.0.0.1"), key);
    hooks.push({ key, url, id: (await register(admin, "https://hooks.example/")).id });
  }
  await first.close();
  for (const { id, url } of hooks) {
    await writeRows({ folder }, "update webhooks set url = ? where id = ?", url, id);
  }
  const again = await startTestServer(kept, { lookUp: unknownName });
  t.after(() => again.close());
  const call = (text: string) => createApi(again.url.replace("0.0.0.0", "127.0.0.1"), text);
  for (const each of new Set(hooks.map((hook) => hook.key))) await createFlag(call(each));
  for (const hook of hooks) {
    const [delivery] = await logWhen(call(hook.key), hook.id, 1, wasAttempted);
    const attempt = delivery?.attempts[0];
    assert.match(
      attempt?.error ?? "delivered",
      /^refused: url must not go to .+, which is not a public address/,
      hook.url,
    );
    assert.deepEqual(
      [delivery?.state, attempt?.status, attempt?.response],
      ["pending", null, null],
    );
  }
  t.diagnostic(`${hooks.length} addresses`);
  assert.deepEqual(canary.visits, []);
});

test("what is no callback address at all is a failed attempt, and the server goes on", async (t) => {
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const at = `127.0.0.1:${canary.port}`;
  const urls = [
    ...words(
      `nonsense https:// https://127.0.0.1:99999/ ftp://${at}/ file:///etc/passwd unix:/tmp/x data:,x`,
    ),
    ...words(
      `javascript:alert(1) https://user:pass@${at}/ https://[::1/ //${at}/x gopher://${at}/`,
    ),
    "",
    ` https://${at}/`,
    `https://${at}/\r\nhost: x`,
  ];
  const kept = { ...settings(), HALYARD_DATA: folder };
  const first = await startTestServer(kept, { lookUp: unknownName });
  const { keys } = await first.environment();
  const call = (server: TestServer) =>
    createApi(server.url.replace("0.0.0.0", "127.0.0.1"), keys.admin);
  const ids: string[] = [];
  for (const _ of urls) ids.push((await register(call(first), "https://hooks.example/")).id);
  await first.close();
  for (const [index, url] of urls.entries()) {
    await writeRows({ folder }, "update webhooks set url = ? where id = ?", url, ids[index] ?? "");
  }
  const again = await startTestServer(kept, { lookUp: unknownName });
  t.after(() => again.close());
  await createFlag(call(again));
  for (const [index, id] of ids.entries()) {
    const [delivery] = await logWhen(call(again), id, 1, wasAttempted);
    assert.match(
      delivery?.attempts[0]?.error ?? "delivered",
      /^refused: url must|^invalid url/i,
      urls[index] ?? "",
    );
  }
  assert.deepEqual(canary.visits, []);
});

test("a name that comes to mean another place after its registration is refused", async (t) => {
  const places = {
    "loopback.example": ["127.0.0.1"],
    "loopback-v6.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "private.example": ["10.0.0.1"],
    "unspecified.example": ["0.0.0.0"],
    "metadata.example": ["169.254.169.254"],
    "scoped.example": ["fe80::1%lo"],
    "translated.example": ["64:ff9b::7f00:1"],
    "mixed.example": [harmless, "127.0.0.1"],
    "mixed-first.example": ["127.0.0.1", harmless],
    "mixed-v6.example": [harmless, "::1"],
    "nonsense.example": ["localhost"],
  };
  const now: Map<string, readonly string[]> = new Map();
  const clock = movableClock();
  const server = await startTestServer(settings(), {
    clock: clock.clock,
    lookUp: async (name) => now.get(name) ?? ["93.184.215.14"],
  });
  const harmlessPlace = await startCanary([harmless], canary.port);
  t.after(() => Promise.all([server.close(), harmlessPlace.close()]));
  const admin = await adminOf(server);
  const hooks = new Map<string, string>();
  for (const name of [...Object.keys(places), "wandering.example"]) {
    hooks.set(name, (await register(admin, `https://${name}:${canary.port}/x`)).id);
  }
  for (const [name, addresses] of Object.entries(places)) now.set(name, addresses);
  now.set("wandering.example", [harmless]);
  await createFlag(admin);
  for (const name of Object.keys(places)) {
    const [delivery] = await logWhen(admin, hooks.get(name) ?? "", 1, wasAttempted);
    assert.match(delivery?.attempts[0]?.error ?? "delivered", /^refused: url must not go to/, name);
  }

  // The way to the harmless place is open, so nothing but the check has kept the others from theirs.
  const wandering = hooks.get("wandering.example") ?? "";
  const [met] = await logWhen(admin, wandering, 1, wasAttempted);
  // A slow machine may have retried.
  assert.deepEqual(new Set(harmlessPlace.visits), new Set([harmless]));
  assert.doesNotMatch(met?.attempts[0]?.error ?? "", /refused/);
  now.set("wandering.example", ["127.0.0.1"]);
  const before = met?.attempts.length ?? 0;
  const isRefused = (error?: string | null) => error?.startsWith("refused") ?? false;
  const [moved] = await logWhen(admin, wandering, 1, ({ attempts }) => {
    clock.forward(minute);
    // One more may have been on its way already.
    return attempts.length > before + 2 || isRefused(attempts.at(-1)?.error);
  });
  assert.match(
    moved?.attempts.at(-1)?.error ?? "delivered",
    /^refused: url must not go to wandering\.example, which does not resolve/,
  );
  assert.deepEqual(new Set(harmlessPlace.visits), new Set([harmless]));
  assert.deepEqual(canary.visits, []);
});
