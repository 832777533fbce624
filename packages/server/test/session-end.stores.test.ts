// How sessions of the dashboard end: by signing out, by time, with their keys.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { openStream } from "./support/event-reader.ts";
import { hour, minute, movableClock } from "./support/movable-clock.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { type SessionBody, setCookieOf, signInWith } from "./support/session.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock, streams: { heartbeat: 100 } });
});
after(() => server.close());

const read = (cookie: string) => server.anonymous("GET", "//session", undefined, { cookie });
const namesOf = ({ environments }: SessionBody) => environments.map(({ name }) => name);

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

test("signing out ends the session everywhere and takes the cookie away, and needs the token", async (t) => {
  const elsewhere = await startTestServer({ HALYARD_DATA: server.folder }, { clock: clock.clock });
  t.after(() => elsewhere.close());
  const { name, keys } = await server.environment();
  const { cookie, csrf } = await signInWith(server, [keys.admin]);
  for (const headers of [{ cookie }, { cookie, "x-halyard-csrf": "wrong" }]) {
    const refused = await server.anonymous("DELETE", "//session", undefined, headers);
    assertRefused(refused, 403, "token");
    assert.equal(setCookieOf(refused), undefined);
  }
  const headers = { cookie, "x-halyard-csrf": csrf, "x-halyard-environment": name };
  const stream = await openStream(`${server.url}/api/v1/stream`, headers);
  await stream.first(1);
  assert.equal((await elsewhere.anonymous("GET", "/flags", undefined, headers)).status, 200);
  const out = await server.anonymous("DELETE", "//session", undefined, headers);
  assert.equal(out.status, 204, out.text);
  const cleared = setCookieOf(out);
  assert.equal(cleared?.pair, "halyard_session=");
  assert.ok(cleared?.attributes.includes("Max-Age=0"));
  // A copy of the cookie is worth nothing.
  for (const each of [server, elsewhere]) {
    assertRefused(await each.anonymous("GET", "/flags", undefined, headers), 401, "has ended");
    assertRefused(await each.anonymous("GET", "//session", undefined, headers), 401, "has ended");
  }
  await stream.untilEnded();
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
  const { cookie } = session;
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

test("an hour after its last use it is over; what the page does by itself is no use of it", async () => {
  const { name, keys } = await server.environment();
  const session = await signInWith(server, [keys.admin]);
  const headers = session.headersFor(name);
  const use = () => server.anonymous("GET", "/flags", undefined, headers);
  for (let turn = 0; turn < 3; turn += 1) {
    clock.forward(hour - minute);
    assert.equal((await use()).status, 200);
  }
  const stream = await openStream(`${server.url}/api/v1/stream`, headers);
  assert.equal((await stream.first(1)).length, 1);
  clock.forward(hour - minute);
  assert.equal((await read(session.cookie)).status, 200);
  const byItself = { ...headers, "x-halyard-background": "1" };
  assert.equal((await server.anonymous("GET", "/flags", undefined, byItself)).status, 200);
  clock.forward(minute);
  assertRefused(await read(session.cookie), 401, "has ended");
  assertRefused(await use(), 401, "has ended");
  await stream.untilEnded();
});

test("after twelve hours it is over, however much it was used", async () => {
  const { name, keys } = await server.environment();
  const session = await signInWith(server, [keys.admin]);
  for (let turn = 1; turn < 24; turn += 1) {
    clock.forward(hour / 2);
    const headers = session.headersFor(name);
    assert.equal((await server.anonymous("GET", "/flags", undefined, headers)).status, 200);
  }
  const stream = await openStream(`${server.url}/api/v1/stream`, session.headersFor(name));
  assert.equal((await stream.first(1)).length, 1);
  clock.forward(hour / 2);
  await stream.untilEnded();
  assertRefused(await read(session.cookie), 401, "has ended");
  const headers = session.headersFor(name);
  assertRefused(await server.anonymous("GET", "/flags", undefined, headers), 401, "has ended");
  // Nothing of it goes on: neither what is open nor the session itself in a new one.
  const again = await server.anonymous(
    "POST",
    "//session",
    { key: keys.admin },
    { cookie: session.cookie },
  );
  assert.notEqual((again.body as SessionBody).csrf, session.csrf);
});
