// Sessions of people: where they are signed in, ending that, new tokens at every change, and fresh sign-ins.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { setAccess } from "../src/features/people/access-queries.ts";
import { needsFreshSignIn, permissions } from "../src/platform/auth/principal.ts";
import { insertSession, listSessions } from "../src/platform/auth/session-queries.ts";
import { createSessions, maxSessions } from "../src/platform/auth/sessions.ts";
import { headersOf, newAccount, signedIn, signIn } from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { readRows, writeRows } from "./support/database.ts";
import { hour, minute, movableClock, second } from "./support/movable-clock.ts";
import { withStore } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { sessionOf, setCookieOf, signInWith, type TestSession } from "./support/session.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

type OpenSession = Pick<TestSession, "cookie" | "csrf">;
const call = (method: string, path: string, session: OpenSession, body?: unknown) =>
  server.anonymous(method, path, body, headersOf(session));
const read = ({ cookie }: Pick<OpenSession, "cookie">) =>
  server.anonymous("GET", "//session", undefined, { cookie });
interface Listed {
  readonly id: string;
  readonly current: boolean;
}
const listed = async (session: OpenSession): Promise<Listed[]> =>
  (await call("GET", "//session/list", session)).body as Listed[];
const assertAgain = (answer: Answer): void => {
  assert.equal(answer.status, 403, answer.text);
  assert.equal((answer.body as { error: string }).error, "SIGN_IN_AGAIN", answer.text);
};

suite("where somebody is signed in", () => {
  test("is listed with how, from where and since when; without what anybody could use", async () => {
    const account = await newAccount(server);
    const agent = `Browser ${"x".repeat(400)}`;
    const other = sessionOf(await signIn(server, account, { "user-agent": agent }));
    const list = await call("GET", "//session/list", other);
    const [first, second] = list.body as (Listed & Record<string, unknown>)[];
    assert.deepEqual(Object.keys(first ?? {}), [
      ...["id", "current", "method", "address", "agent", "createdAt", "usedAt"],
    ]);
    assert.partialDeepStrictEqual(first, {
      current: true,
      method: "password",
      address: "127.0.0.1",
      agent: agent.slice(0, 300),
    });
    assert.equal(second?.current, false);
    assert.ok(!list.text.includes(other.cookie.slice(-43)));
    assert.ok(!list.text.includes(other.csrf));
  });

  test("one of them is ended by its id, and nobody else's", async () => {
    const account = await newAccount(server);
    const [here, there] = [account.session, await signedIn(server, account)];
    const stranger = await newAccount(server);
    const id = (await listed(there)).find(({ current }) => current)?.id ?? "";
    assertRefused(await call("DELETE", `//session/list/${id}`, stranger.session), 404, id);
    assert.equal((await read(there)).status, 200);
    assert.equal((await call("DELETE", `//session/list/${id}`, here)).status, 204);
    assertRefused(await read(there), 401, "has ended");
    const own = (await listed(here))[0]?.id ?? "";
    const ended = await call("DELETE", `//session/list/${own}`, here);
    assert.equal(ended.status, 204);
    assert.equal(setCookieOf(ended)?.value, "");
    assertRefused(await read(here), 401);
  });

  test("all others are ended at once", async () => {
    const account = await newAccount(server);
    const others = [account.session, await signedIn(server, account)];
    const here = await signedIn(server, account);
    const stranger = await newAccount(server);
    assert.equal((await call("DELETE", "//session/list", here)).status, 204);
    for (const each of others) assertRefused(await read(each), 401);
    assert.equal((await read(here)).status, 200);
    assert.equal((await read(stranger.session)).status, 200);
    assert.equal((await listed(here)).length, 1);
  });

  test("beyond fifty the oldest is over", async () => {
    const account = await newAccount(server);
    const { userId } = account;
    // Older than it, as they would be after years.
    await withStore(server, (store) =>
      store.transact(async (transaction) => {
        const [first] = await listSessions(store, userId);
        assert.ok(first);
        for (let at = 1; at <= maxSessions; at += 1) {
          const createdAt = new Date(first.createdAt.getTime() - at * minute);
          const hash = Buffer.from(`session ${at} of ${userId}`);
          await insertSession(
            transaction,
            { ...first, hash, id: `old-${at}`, createdAt },
            createdAt,
          );
        }
      }),
    );
    const newest = await signedIn(server, account);
    const ids = (await listed(newest)).map(({ id }) => id);
    assert.equal(ids.length, maxSessions);
    assert.ok(ids.includes("old-48") && !ids.includes("old-49"), String(ids));
    assert.equal((await read(account.session)).status, 200);
  });

  test("each lasts as long as the operator says", async (t) => {
    const own = movableClock();
    const short = await startTestServer({ HALYARD_SESSION_LIFETIME: "1" }, { clock: own.clock });
    t.after(() => short.close());
    const { cookie, endsAt } = (await newAccount(short)).session;
    assert.ok(Math.abs(Date.parse(endsAt) - Date.now() - hour) < 10 * minute, endsAt);
    own.forward(hour);
    assertRefused(await short.anonymous("GET", "//session", undefined, { cookie }), 401);
  });
});

suite("a new token", () => {
  test("comes with new rights, once; what other tabs have sent meanwhile is still answered, for seconds", async () => {
    const { name } = await server.environment();
    const { userId, session } = await newAccount(server);
    assert.equal(setCookieOf(await read(session)), undefined);
    const [environment] = await readRows(
      server,
      "select id from environments where name = ?",
      name,
    );
    await withStore(server, (store) =>
      store.transact(async (transaction) => {
        const access = { id: "0011223344556677", role: "admin", isFromGroup: false } as const;
        await setAccess(transaction, userId, Number(environment?.id), access, clock.clock());
      }),
    );
    const tabs = await Promise.all([read(session), read(session), read(session)]);
    const renewed = tabs.filter((answer) => setCookieOf(answer) !== undefined);
    assert.deepEqual([tabs.map(({ status }) => status), renewed.length], [[200, 200, 200], 1]);
    const [answer] = renewed;
    assert.ok(answer);
    const now = sessionOf(answer);
    assert.notEqual(now.cookie, session.cookie);
    assert.deepEqual(
      now.environments.map(({ role }) => role),
      ["admin"],
    );
    assert.equal(setCookieOf(await read(now)), undefined);
    assert.equal((await listed(now)).length, 1);
    clock.forward(10 * second);
    assertRefused(await read(session), 401, "has ended");
    assert.equal((await read(now)).status, 200);
  });

  test("comes once, whichever of two requests has looked at the clock first", async () => {
    const { session } = await newAccount(server);
    const read = clock.clock();
    await withStore(server, async (store) => {
      const sessionsAt = (time: number) =>
        createSessions(store, {
          clock: () => new Date(time),
          random: (bytes) => randomBytes(bytes),
          idleTimeout: hour,
          lifetime: hour,
          freshFor: hour,
        });
      const token = session.cookie.slice(-43);
      const found = await sessionsAt(read.getTime()).find(token);
      assert.ok(found);
      const changed = { ...found, hasNewRights: true };
      assert.notEqual((await sessionsAt(read.getTime() + second).refresh(changed)).token, token);
      assert.equal((await sessionsAt(read.getTime()).refresh(changed)).token, token);
    });
  });

  test("comes with a new password, which ends all other sessions", async () => {
    const account = await newAccount(server);
    const { session, password: current } = account;
    const other = await signedIn(server, account);
    const password = "another one that is as good";
    const change = (body: object) => call("PUT", "//session/password", session, body);
    assertRefused(await change({ password }), 400, "current");
    assertRefused(await change({ current: "not it at all", password }), 401, "wrong");
    assertRefused(await change({ current, password: "short" }), 400, "at least 10");
    assert.equal((await read(other)).status, 200);
    const changed = await change({ current, password });
    const now = sessionOf(changed);
    assertRefused(await read(session), 401);
    assertRefused(await read(other), 401);
    assert.equal((await read(now)).status, 200);
    assertRefused(await signIn(server, account), 401);
    await signedIn(server, { ...account, password });
  });

  test("whoever signs in by a provider gives themselves no password", async () => {
    const { userId, session, password } = await newAccount(server);
    await writeRows(server, "update users set password = null where id = ?", userId);
    const answer = await call("PUT", "//session/password", session, {
      current: password,
      password,
    });
    assertRefused(answer, 409, "an owner");
  });
});

suite("a fresh sign-in", () => {
  test("is asked for before keys, people and environments are changed", () => {
    assert.deepEqual(permissions.filter(needsFreshSignIn).sort(), [
      "environments.write",
      "keys.write",
      "personal-keys.write",
      "users.write",
    ]);
  });

  test("lasts a quarter of an hour; the password gives another, under a new token", async () => {
    const { name } = await server.environment();
    const account = await newAccount(server, { owner: true });
    const { session } = account;
    const key = { name: "ci", role: "client" };
    const tries = (by: TestSession) => [
      () => server.anonymous("POST", "/keys", key, by.headersFor(name)),
      () => server.anonymous("POST", "/users", { name: "Somebody" }, by.headersFor(name)),
    ];
    for (const attempt of tries(session)) assert.equal((await attempt()).status, 201);
    clock.forward(15 * minute);
    for (const attempt of tries(session)) assertAgain(await attempt());
    const password = "another one that is as good";
    assertAgain(
      await call("PUT", "//session/password", session, { current: account.password, password }),
    );
    assertAgain(await call("POST", "//session/second-factor", session));
    // Everything else goes on.
    const flag = { key: "a", type: "boolean" };
    const made = await server.anonymous("POST", "/flags", flag, session.headersFor(name));
    assert.equal(made.status, 201, made.text);
    const seen = await server.anonymous("GET", "/users", undefined, session.headersFor(name));
    assert.equal(seen.status, 200, seen.text);

    assertRefused(
      await call("POST", "//session/again", session, { password: "guessed wrong" }),
      401,
    );
    const again = await call("POST", "//session/again", session, { password: account.password });
    const fresh = sessionOf(again);
    assert.notEqual(fresh.cookie, session.cookie);
    assertRefused(await read(session), 401);
    // It ends when it would have ended before.
    assert.equal(fresh.endsAt, session.endsAt);
    for (const attempt of tries(fresh)) assert.equal((await attempt()).status, 201);
    assert.equal((await listed(fresh)).length, 1);
  });

  test("is asked for inside a change request too, to propose it and to approve it, and to go past one", async () => {
    const { name, admin } = await server.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const [first] = (await admin("GET", "/keys")).body as { id: string }[];
    const { session } = await newAccount(server, { owner: true });
    const { session: other } = await newAccount(server, { owner: true });
    const as = (by: TestSession) => (method: string, path: string, body?: object) =>
      server.anonymous(method, path, body, by.headersFor(name));
    const patch = { kind: "flag", key: "a", action: "patch", body: { description: "b" } };
    const key = { kind: "key", key: first?.id, action: "patch", body: { writesDirectly: true } };
    const made = await as(session)("POST", "/change-requests", { operations: [key] });
    assert.equal(made.status, 201, made.text);
    const path = `/change-requests/${(made.body as { id: string }).id}`;
    clock.forward(15 * minute);
    assertAgain(await as(session)("POST", "/change-requests", { operations: [patch, key] }));
    assertAgain(await as(session)("PATCH", path, { operations: [patch, key] }));
    assertAgain(await as(other)("POST", `${path}/approve`));
    assertAgain(await as(other)("POST", `${path}/bypass`, { reason: "An incident" }));
    const bypass = "/flags/a?bypass=true&reason=An%20incident";
    assertAgain(await as(session)("PATCH", bypass, { enabled: true }));
    const flags = await as(session)("POST", "/change-requests", { operations: [patch] });
    assert.equal(flags.status, 201, flags.text);
    const approve = `/change-requests/${(flags.body as { id: string }).id}/approve`;
    assert.equal((await as(other)("POST", approve)).status, 200);
  });

  test("is not asked of keys, nor of those who came with one", async () => {
    const { name, keys, admin } = await server.environment();
    const session = await signInWith(server, [keys.admin]);
    clock.forward(30 * minute);
    const key = { name: "ci", role: "client" };
    assert.equal((await admin("POST", "/keys", key)).status, 201);
    const made = await server.anonymous("POST", "/keys", key, session.headersFor(name));
    assert.equal(made.status, 201, made.text);
  });
});
