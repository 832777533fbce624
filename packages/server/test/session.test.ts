// Sessions of the dashboard: a key becomes a cookie, and the cookie speaks for the key as long as the key is good.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { readContents, readRows } from "./support/database.ts";
import { openStream } from "./support/event-reader.ts";
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
    assert.deepEqual(Object.keys(body), ["csrf", "endsAt", "environments"]);
    assert.match(body.csrf, /^[\w-]{43}$/);
    const keyId = keys.admin.split("_")[1];
    assert.deepEqual(body.environments, [{ name, role: "admin", keyName: "admin", keyId }]);
    const lasts = new Date(body.endsAt).getTime() - before;
    assert.ok(lasts >= 12 * hour && lasts < 12 * hour + minute, `${lasts} ms`);

    const cookie = setCookieOf(answer);
    assert.match(cookie?.pair ?? "", /^halyard_session=[\w-]{60,}$/);
    assert.deepEqual(cookie?.attributes, [
      "HttpOnly",
      "Max-Age=43200",
      "Path=/",
      "SameSite=Strict",
    ]);
    const inside = Buffer.from(cookie?.value ?? "", "base64url").toString("latin1");
    for (const text of [keyId ?? "", keys.admin.slice(-43), name, body.csrf]) {
      assert.ok(!inside.includes(text), "the cookie shows what it holds");
    }

    const again = await read(cookie?.pair ?? "");
    assert.deepEqual([again.status, again.body], [200, body]);
    assert.equal(setCookieOf(again), undefined);
  });

  test("the text of the key is kept nowhere", async () => {
    const { keys } = await server.environment();
    const session = await signInWith(server, [keys.admin]);
    await read(session.cookie);
    for (const [place, bytes] of await readContents(server)) {
      assert.ok(!bytes.includes(keys.admin.slice(-43)), place);
      assert.ok(!bytes.includes(session.csrf), place);
    }
  });

  test("a server key signs in to look; a client key is refused", async () => {
    const { name, keys } = await server.environment();
    const session = await signInWith(server, [keys.server]);
    assert.equal(session.environments[0]?.role, "server");
    const headers = session.headersFor(name);
    assert.equal((await server.anonymous("GET", "/flags", undefined, headers)).status, 200);
    const flag = { key: "a", type: "boolean" };
    assertRefused(await server.anonymous("POST", "/flags", flag, headers), 403, "role admin");

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

  test("whoever signs in to another environment keeps the token that other tabs have", async () => {
    const [here, there] = [await server.environment(), await server.environment()];
    const first = await signInWith(server, [here.keys.admin]);
    const more = await server.anonymous(
      "POST",
      "//session",
      { key: there.keys.admin },
      { cookie: first.cookie },
    );
    assert.equal((more.body as SessionBody).csrf, first.csrf);
    const other = await signInWith(server, [here.keys.admin]);
    assert.notEqual(other.csrf, first.csrf);
  });
});

suite("ending", () => {
  test("without a cookie, with a broken one or with two different ones there is no session", async () => {
    const { name, keys } = await server.environment();
    const session = await signInWith(server, [keys.admin]);
    const other = await signInWith(server, [keys.admin]);
    const [cookieName = "", value = ""] = session.cookie.split("=");
    const flipped = value.startsWith("A") ? `B${value.slice(1)}` : `A${value.slice(1)}`;
    for (const cookie of [
      "",
      "theme=dark",
      `${cookieName}=`,
      `${cookieName}=nonsense`,
      `${cookieName}=${flipped}`,
      `${cookieName}=${value.slice(0, -4)}AAAA`,
      `${cookieName}=${value}A`,
      `other${session.cookie}`,
      `${session.cookie}; ${other.cookie}`,
    ]) {
      assertRefused(await read(cookie), 401, "signed in");
      const headers = { ...session.headersFor(name), cookie };
      assertRefused(await server.anonymous("GET", "/flags", undefined, headers), 401);
    }
    const among = await read(`theme=dark; ${session.cookie};lang=en`);
    assert.equal(among.status, 200, among.text);
    assert.equal((await read(`${session.cookie}; ${session.cookie}`)).status, 200);
  });

  test("signing out takes the cookie away, and needs the token", async () => {
    const { keys } = await server.environment();
    const { cookie, csrf } = await signInWith(server, [keys.admin]);
    for (const headers of [{ cookie }, { cookie, "x-halyard-csrf": "wrong" }]) {
      const refused = await server.anonymous("DELETE", "//session", undefined, headers);
      assertRefused(refused, 403, "token");
      assert.equal(setCookieOf(refused), undefined);
    }
    const headers = { cookie, "x-halyard-csrf": csrf };
    const out = await server.anonymous("DELETE", "//session", undefined, headers);
    assert.equal(out.status, 204, out.text);
    const cleared = setCookieOf(out);
    assert.equal(cleared?.pair, "halyard_session=");
    assert.ok(cleared?.attributes.includes("Max-Age=0"));
    assert.equal((await server.anonymous("DELETE", "//session")).status, 204, "nothing to end");
  });

  test("one environment can be left; with the last one the session ends", async () => {
    const [here, there] = [await server.environment(), await server.environment()];
    const session = await signInWith(server, [here.keys.admin, there.keys.admin]);
    const leave = (name: string, headers: Record<string, string>) =>
      server.anonymous("DELETE", `//session/${name}`, undefined, headers);
    assertRefused(await leave(here.name, { cookie: session.cookie }), 403, "token");
    assertRefused(await leave(here.name, {}), 401);

    const proof = { "x-halyard-csrf": session.csrf };
    const left = await leave(here.name, { cookie: session.cookie, ...proof });
    assert.equal(left.status, 204, left.text);
    const cookie = setCookieOf(left)?.pair ?? "";
    const rest = (await read(cookie)).body as SessionBody;
    assert.deepEqual(namesOf(rest), [there.name]);
    assert.equal(rest.endsAt, session.endsAt, "leaving does not make it longer");
    const last = await leave(there.name, { cookie, ...proof });
    assert.equal(setCookieOf(last)?.value, "");
  });

  test("a revoked key drops out at once, for reads, writes and the session", async () => {
    const [here, there] = [await server.environment(), await server.environment()];
    const made = await here.admin("POST", "/keys", { name: "doomed", role: "admin" });
    const { id, key } = made.body as { id: string; key: string };
    const session = await signInWith(server, [key, there.keys.admin]);
    const headers = session.headersFor(here.name);
    assert.equal((await server.anonymous("GET", "/flags", undefined, headers)).status, 200);
    assert.equal((await here.admin("DELETE", `/keys/${id}`)).status, 204);

    const words = ["not signed in", here.name, "revoked"];
    assertRefused(await server.anonymous("GET", "/flags", undefined, headers), 401, ...words);
    const flag = { key: "a", type: "boolean" };
    assertRefused(await server.anonymous("POST", "/flags", flag, headers), 401, ...words);
    assert.deepEqual(namesOf((await read(session.cookie)).body as SessionBody), [there.name]);
    const others = session.headersFor(there.name);
    assert.equal((await server.anonymous("GET", "/flags", undefined, others)).status, 200);

    const alone = await signInWith(server, [there.keys.admin]);
    const keyId = alone.environments[0]?.keyId ?? "";
    const spare = await there.admin("POST", "/keys", { name: "spare", role: "admin" });
    const { key: spareKey } = spare.body as { key: string };
    assert.equal((await server.api(spareKey)("DELETE", `/keys/${keyId}`)).status, 204);
    const gone = await read(alone.cookie);
    assertRefused(gone, 401);
    assert.equal(setCookieOf(gone)?.value, "", "a cookie that is of no use is taken away");
  });

  test("after twelve hours it is over", async () => {
    const { name, keys } = await server.environment();
    const session = await signInWith(server, [keys.admin]);
    clock.forward(12 * hour - minute);
    assert.equal((await read(session.cookie)).status, 200);
    clock.forward(minute - 5_000);
    const stream = await openStream(`${server.url}/api/v1/stream`, session.headersFor(name));
    assert.equal((await stream.first(1)).length, 1);
    await stream.untilEnded();
    clock.forward(5_000);
    assertRefused(await read(session.cookie), 401, "over");
    const headers = session.headersFor(name);
    assertRefused(await server.anonymous("GET", "/flags", undefined, headers), 401, "over");
    // Nothing of it goes on: neither what is open nor the session itself in a new one.
    const again = await server.anonymous(
      "POST",
      "//session",
      { key: keys.admin },
      { cookie: session.cookie },
    );
    assert.notEqual((again.body as SessionBody).csrf, session.csrf);
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
  assert.equal((await limited.anonymous("POST", "//session", { key: keys.admin })).status, 429);
});
