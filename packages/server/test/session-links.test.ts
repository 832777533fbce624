// The link that a start prints: it signs in once, soon, and with keys that are good.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, test } from "node:test";
import { readContents, readRows } from "./support/database.ts";
import { minute, movableClock } from "./support/movable-clock.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { type SessionBody, setCookieOf, signInWith, type TestSession } from "./support/session.ts";

const folders: string[] = [];
const sharedFolder = () => {
  const folder = newFolder();
  folders.push(folder);
  return folder;
};
after(async () => {
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(basename(folder));
  }
});

const pathOf = ({ dashboardUrl = "" }: TestServer): string => {
  const { pathname, search } = new URL(dashboardUrl);
  assert.equal(pathname, "/sign-in");
  assert.match(search, /^\?once=[\w-]{43}$/);
  return `/${pathname}${search}`;
};

/** Follows the link; gives the session's cookie, or undefined when it is no longer good. */
const open = async (server: TestServer, path: string, headers: Record<string, string> = {}) => {
  const answer = await server.anonymous("GET", path, undefined, headers);
  assert.equal(answer.status, 303, answer.text);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  const cookie = setCookieOf(answer)?.pair;
  const target = answer.headers.get("location") ?? "";
  if (cookie) assert.match(target, /^\/environments\/(development|production)\/flags$/);
  else assert.equal(target, "/sign-in?link=expired");
  return cookie;
};

const environmentsOf = async (server: TestServer, cookie: string | undefined) => {
  assert.ok(cookie, "the link did not sign in");
  const answer = await server.anonymous("GET", "//session", undefined, { cookie });
  return (answer.body as SessionBody).environments;
};

test("it signs in to every environment, once", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const path = pathOf(server);
  assert.equal((await server.anonymous("HEAD", path)).status < 304, true);
  const environments = await environmentsOf(server, await open(server, path));
  assert.deepEqual(
    environments.map(({ name, role, keyName }) => [name, role, keyName]),
    [
      ["development", "admin", "admin"],
      ["production", "admin", "admin"],
    ],
  );
  assert.equal(await open(server, path), undefined, "used before");
});

test("of many who open it at once one is signed in", async (t) => {
  const folder = sharedFolder();
  const one = await startTestServer({ HALYARD_DATA: folder });
  const two = await startTestServer({ HALYARD_DATA: folder, HALYARD_SIGN_IN_LINK: "off" });
  t.after(() => Promise.all([one.close(), two.close()]));
  const path = pathOf(one);
  const cookies = await Promise.all(
    Array.from({ length: 12 }, (_, index) => open(index % 2 === 0 ? one : two, path)),
  );
  assert.equal(cookies.filter((cookie) => cookie !== undefined).length, 1);
});

test("a link that was never given is none, whatever it looks like", async (t) => {
  const server = await startTestServer({ HALYARD_AUTH_FAILURE_LIMIT: "6" });
  t.after(() => server.close());
  const path = pathOf(server);
  const last = path.at(-1) === "A" ? "B" : "A";
  for (const wrong of [
    "//sign-in?once=",
    "//sign-in?once=nonsense",
    `${path}A`,
    path.slice(0, -1),
    `${path.slice(0, -1)}${last}`,
    `${path}&once=second`,
  ]) {
    assert.equal(await open(server, wrong), undefined, wrong);
  }
  const limited = await server.anonymous("GET", path);
  assert.equal(limited.status, 429, "guessing is limited");
  assert.ok(Number(limited.headers.get("retry-after")) > 0);
});

test("it is good for ten minutes, and what is over is forgotten", async (t) => {
  const folder = sharedFolder();
  const clock = movableClock();
  const start = () => startTestServer({ HALYARD_DATA: folder }, { clock: clock.clock });
  const first = await start();
  const second = await start();
  const unused = await start();
  clock.forward(10 * minute - 1_000 * 5);
  assert.ok(await open(second, pathOf(first)), "just in time, at another instance");
  clock.forward(5_000);
  assert.equal(await open(first, pathOf(second)), undefined, "too late");
  const third = await start();
  t.after(() => Promise.all([first, second, unused, third].map((each) => each.close())));
  const rows = await readRows(first, "select expires_at from sign_in_links");
  assert.equal(rows.length, 1, "only the newest is left");
  assert.ok(await open(first, pathOf(third)));
  assert.deepEqual(await readRows(first, "select hash from sign_in_links"), []);
});

test("its token is kept nowhere", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const token = pathOf(server).split("=")[1] ?? "";
  const bytes = Buffer.from(token, "base64url");
  for (const [place, content] of await readContents(server)) {
    assert.ok(!content.includes(token) && !content.includes(bytes), place);
  }
});

test("it stands for the oldest admin key of each environment that is good", async (t) => {
  const folder = sharedFolder();
  const one = await startTestServer({ HALYARD_DATA: folder });
  t.after(() => one.close());
  const key = (name: string) =>
    one.firstKeys.find(({ environment }) => environment === name)?.text ?? "";
  const admin = one.api(key("production"));
  const made = await admin("POST", "/keys", { name: "second", role: "admin" });
  const { key: secondKey } = made.body as { key: string };
  await admin("POST", "/keys", { name: "third", role: "admin" });
  const firstId = key("production").split("_")[1] ?? "";
  assert.equal((await one.api(secondKey)("DELETE", `/keys/${firstId}`)).status, 204);

  // The key that this start's link stood for is gone, and its environment with it.
  const left = await environmentsOf(one, await open(one, pathOf(one)));
  assert.deepEqual(
    left.map(({ name }) => name),
    ["development"],
  );
  // Its oldest keys have other roles.
  const { name: mixed } = await one.environment();
  const two = await startTestServer({ HALYARD_DATA: folder });
  t.after(() => two.close());
  const next = await environmentsOf(two, await open(two, pathOf(two)));
  assert.deepEqual(
    next.map(({ name, keyName }) => [name, keyName]),
    [
      ["development", "admin"],
      ["production", "second"],
      [mixed, "admin"],
    ],
  );
});

test("whoever is signed in keeps what the link does not bring", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { name, keys } = await server.environment();
  const { cookie } = await signInWith(server, [keys.server]);
  const environments = await environmentsOf(server, await open(server, pathOf(server), { cookie }));
  assert.deepEqual(
    environments.map((environment) => environment.name),
    ["development", "production", name],
  );
});

test("its rights end with its keys and at its time, whatever key comes to them", async (t) => {
  const clock = movableClock();
  const server = await startTestServer({}, { clock: clock.clock });
  t.after(() => server.close());
  const { name, keys } = await server.environment();
  const cookie = (await open(server, pathOf(server))) ?? "";
  const first = await server.anonymous("GET", "//session", undefined, { cookie });
  const { endsAt } = first.body as SessionBody;
  clock.forward(minute);
  const joined = await signInWith(server, [keys.server], { cookie });
  assert.equal(joined.endsAt, endsAt, "another key does not make them last longer");
  const users = (session: TestSession, environment: string) =>
    server.anonymous("GET", "/users", undefined, session.headersFor(environment));
  assert.equal((await users(joined, "development")).status, 200);
  assert.equal((await users(joined, name)).status, 403, "a key for reading stays one");
  for (const { text } of server.firstKeys) {
    const api = server.api(text);
    const made = await api("POST", "/keys", { name: "second", role: "admin" });
    const second = server.api((made.body as { key: string }).key);
    assert.equal((await second("DELETE", `/keys/${text.split("_")[1]}`)).status, 204);
  }
  const after = await signInWith(server, [keys.admin], { cookie: joined.cookie });
  assert.equal((await users(after, name)).status, 403, "the keys of the link are revoked");
  assert.notEqual(after.endsAt, endsAt);
});

test("it is given on a developer's machine, elsewhere only when that is wished", async (t) => {
  const silent = await startTestServer({ HALYARD_SIGN_IN_LINK: "off" });
  t.after(() => silent.close());
  assert.equal(silent.dashboardUrl, silent.url);
  const open = await startTestServer({ HOST: "0.0.0.0" });
  t.after(() => open.close());
  assert.equal(open.dashboardUrl, open.url);
  const wished = await startTestServer({ HOST: "0.0.0.0", HALYARD_SIGN_IN_LINK: "on" });
  t.after(() => wished.close());
  pathOf(wished);
});
