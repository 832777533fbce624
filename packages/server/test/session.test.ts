// Sessions of the dashboard: a key becomes a cookie, and the cookie speaks for the key as long as the key is good.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { readContents, readRows } from "./support/database.ts";
import { hour, minute, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { type SessionBody, setCookieOf, signInWith } from "./support/session.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const read = (cookie: string) => server.anonymous("GET", "//session", undefined, { cookie });
const namesOf = ({ environments }: SessionBody) => environments.map(({ name }) => name);

suite("signing in", () => {
  test("a key becomes a cookie that scripts cannot read and other sites cannot send", async () => {
    const { name, keys } = await server.environment();
    const before = clock.clock().getTime();
    const answer = await server.anonymous("POST", "//session", { key: ` ${keys.admin}\n` });
    const body = answer.body as SessionBody;
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.deepEqual(Object.keys(body), [
      "csrf",
      "endsAt",
      "method",
      "signedInAt",
      "isOwner",
      "user",
      "environments",
    ]);
    assert.match(body.csrf, /^[\w-]{43}$/);
    const keyId = keys.admin.split("_")[1];
    assert.partialDeepStrictEqual(body.environments, [
      { name, role: "admin", keyName: "admin", keyId, permissions: ["flags.evaluate"] },
    ]);
    const lasts = new Date(body.endsAt).getTime() - before;
    assert.ok(lasts >= 12 * hour && lasts < 12 * hour + minute, `${lasts} ms`);

    const cookie = setCookieOf(answer);
    assert.match(cookie?.pair ?? "", /^halyard_session=[\w-]{43}$/);
    assert.deepEqual(cookie?.attributes, [
      "HttpOnly",
      "Max-Age=43200",
      "Path=/",
      "SameSite=Strict",
    ]);

    const again = await read(cookie?.pair ?? "");
    assert.deepEqual([again.status, again.body], [200, body]);
    assert.equal(setCookieOf(again), undefined);
  });

  test("neither the text of the key nor the cookie is kept anywhere", async () => {
    const { keys } = await server.environment();
    const session = await signInWith(server, [keys.admin]);
    await read(session.cookie);
    for (const [place, bytes] of await readContents(server)) {
      assert.ok(!bytes.includes(keys.admin.slice(-43)), place);
      assert.ok(!bytes.includes(session.csrf), place);
      assert.ok(!bytes.includes(session.cookie.slice(-43)), place);
    }
  });

  test("a server key signs in to look; a client key is refused", async () => {
    const { name, keys } = await server.environment();
    const session = await signInWith(server, [keys.server]);
    assert.equal(session.environments[0]?.role, "server");
    const headers = session.headersFor(name);
    assert.equal((await server.anonymous("GET", "/flags", undefined, headers)).status, 200);
    const flag = { key: "a", type: "boolean" };
    assertRefused(await server.anonymous("POST", "/flags", flag, headers), 403, "role editor");

    const refused = await server.anonymous("POST", "//session", { key: keys.client });
    assertRefused(refused, 403, "role server", "role client");
    assert.equal(setCookieOf(refused), undefined);
  });

  test("a bad key is 401, and a body that is not one key 400", async () => {
    const { keys } = await server.environment();
    for (const key of ["nonsense", keys.admin.slice(0, -1), "session"]) {
      const answer = await server.anonymous("POST", "//session", { key });
      assertRefused(answer, 401, "not valid");
      assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="halyard"');
      assert.equal(setCookieOf(answer), undefined);
      assert.ok(!answer.text.includes(key));
    }
    for (const body of [{}, { key: 1 }, { key: "" }, { key: keys.admin, more: 1 }, []]) {
      assertRefused(await server.anonymous("POST", "//session", body), 400);
    }
    const text = { "content-type": "text/plain" };
    const plain = JSON.stringify({ key: keys.admin });
    assertRefused(await server.anonymous("POST", "//session", plain, text), 415);
    assertRefused(await server.anonymous("PUT", "//session", { key: keys.admin }), 405);
  });

  test("a key in the same environment takes the place of the one before, others stand side by side", async () => {
    const [here, there] = [await server.environment(), await server.environment()];
    const first = await signInWith(server, [there.keys.admin]);
    const both = await signInWith(server, [there.keys.admin, here.keys.admin]);
    assert.deepEqual(namesOf(first), [there.name]);
    assert.deepEqual(namesOf(both), [here.name, there.name]);
    const replaced = await signInWith(server, [
      there.keys.admin,
      here.keys.admin,
      there.keys.server,
    ]);
    assert.deepEqual(
      replaced.environments.map(({ name, role }) => [name, role]),
      [
        [here.name, "admin"],
        [there.name, "server"],
      ],
    );
  });

  test("whoever signs in to another environment gets a new session and token, and the one before is over", async () => {
    const [here, there] = [await server.environment(), await server.environment()];
    const first = await signInWith(server, [here.keys.admin]);
    const more = await server.anonymous(
      "POST",
      "//session",
      { key: there.keys.admin },
      { cookie: first.cookie },
    );
    assert.notEqual((more.body as SessionBody).csrf, first.csrf);
    const cookie = setCookieOf(more)?.pair ?? "";
    assert.notEqual(cookie, first.cookie);
    assert.deepEqual(namesOf((await read(cookie)).body as SessionBody), [here.name, there.name]);
    assertRefused(await read(first.cookie), 401, "has ended");
    const mixed = { ...first.headersFor(here.name), cookie };
    const flag = { key: "a", type: "boolean" };
    assertRefused(await server.anonymous("POST", "/flags", flag, mixed), 403, "token");
  });
});

test("a change is told as made by the key, and counts against its limit", async (t) => {
  // Five, and the sign-in.
  const limited = await startTestServer({ HALYARD_RATE_LIMIT: "6" });
  t.after(() => limited.close());
  const { name, keys, admin } = await limited.environment();
  const session = await signInWith(limited, [keys.admin]);
  const headers = session.headersFor(name);
  const flag = { key: "a", type: "boolean" };
  assert.equal((await limited.anonymous("POST", "/flags", flag, headers)).status, 201);
  const [row] = await readRows(
    limited,
    "select actor_key_id, actor_name from history where subject = 'flag'",
  );
  assert.deepEqual(
    { ...row },
    { actor_key_id: session.environments[0]?.keyId, actor_name: "admin" },
  );
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal((await limited.anonymous("GET", "/flags", undefined, headers)).status, 200);
    assert.equal((await admin("GET", "/flags")).status, 200);
  }
  for (const answer of [
    await limited.anonymous("GET", "/flags", undefined, headers),
    await admin("GET", "/flags"),
  ]) {
    assert.equal(answer.status, 429, answer.text);
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
  }
});

test("failed sign-ins are limited like other failed authentications", async (t) => {
  const limited = await startTestServer({ HALYARD_AUTH_FAILURE_LIMIT: "3" });
  t.after(() => limited.close());
  const { keys } = await limited.environment();
  for (let turn = 0; turn < 3; turn += 1) {
    assertRefused(await limited.anonymous("POST", "//session", { key: "nonsense" }), 401);
  }
  const refused = await limited.anonymous("POST", "//session", { key: "nonsense" });
  assert.equal(refused.status, 429, refused.text);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.equal((await limited.anonymous("POST", "//session", { key: keys.admin })).status, 200);
});
