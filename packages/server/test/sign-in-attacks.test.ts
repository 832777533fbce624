// Guessing passwords, and pages of others that send requests with our cookie: both are held off.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createAttempts } from "../src/platform/auth/attempts.ts";
import {
  goodPassword,
  headersOf,
  newAccount,
  newEmail,
  signedIn,
  signIn,
} from "./support/accounts.ts";
import { assertRefused } from "./support/answers.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { setCookieOf, signInWith } from "./support/session.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const read = (cookie: string) => server.anonymous("GET", "//session", undefined, { cookie });
const wrongPassword = "not the one that was chosen";

suite("guessing", () => {
  test("the first few attempts are free, then each waits twice as long, by account and network; never for good", () => {
    let now = 0;
    const attempts = createAttempts(() => now);
    const waits: (number | undefined)[] = [];
    const until = (address: string, count: number) => {
      for (let turn = 0; turn < count; turn += 1) {
        const wait = attempts.begin("ada", address);
        waits.push(wait);
        if (wait !== undefined) now += 1_000 * wait;
      }
    };
    until("192.0.2.1", 5);
    assert.deepEqual(waits, Array(5).fill(undefined));
    assert.equal(attempts.begin("ada", "192.0.2.1"), 1);
    // Another network, and another account, do not wait for it.
    assert.equal(attempts.begin("ada", "198.51.100.1"), undefined);
    assert.equal(attempts.begin("grace", "192.0.2.1"), undefined);
    // A /64 of IPv6 is one network.
    for (let host = 1; host <= 5; host += 1) attempts.begin("grace", `2001:db8::${host}`);
    assert.equal(attempts.begin("grace", "2001:db8::ffff"), 1);

    waits.length = 0;
    until("192.0.2.1", 40);
    const asked = waits.filter((wait) => wait !== undefined);
    assert.deepEqual(asked.slice(0, 6), [1, 2, 4, 8, 16, 32]);
    assert.equal(Math.max(...asked), 15 * 60);
    // From a network that has never tried, the person waits a minute at most.
    now += 60_000;
    assert.equal(attempts.begin("ada", "203.0.113.9"), undefined);
    attempts.succeeded("ada", "203.0.113.9");
    now += 15 * 60_000;
    assert.equal(attempts.begin("ada", "192.0.2.1"), undefined);
  });

  test("many networks together do not guess faster than one a minute", () => {
    let now = 0;
    const attempts = createAttempts(() => now);
    let tried = 0;
    for (let turn = 0; turn < 3_600; turn += 1) {
      now += 1_000;
      if (attempts.begin("ada", `10.0.${turn >> 8}.${turn & 255}`) === undefined) tried += 1;
    }
    assert.ok(tried <= 20 + 6 + 60, `${tried} in an hour`);
  });

  test("also all at once; whoever is signed in stays so, and after the delay the right password works", async () => {
    const account = await newAccount(server);
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => signIn(server, { ...account, password: wrongPassword })),
    );
    const refused = guesses.filter(({ status }) => status === 429);
    assert.equal(guesses.filter(({ status }) => status === 401).length, 5);
    assert.equal(refused.length, 7);
    for (const answer of refused) {
      assertRefused(answer, 429, "to this account");
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
    }
    assert.equal((await read(account.session.cookie)).status, 200);
    await until("the delay is over", async () => (await signIn(server, account)).status === 200);
  });

  test("failures are limited by address too, whatever the account", async (t) => {
    const limited = await startTestServer({ HALYARD_AUTH_FAILURE_LIMIT: "3" });
    t.after(() => limited.close());
    const guess = () => signIn(limited, { email: newEmail(), password: wrongPassword });
    for (let turn = 0; turn < 2; turn += 1) assertRefused(await guess(), 401);
    const path = `//session/invitation?token=${"x".repeat(43)}`;
    assertRefused(await limited.anonymous("GET", path), 401, "invitation");
    assertRefused(await guess(), 429, "from this address");
    assertRefused(await limited.anonymous("GET", path), 429);
    const body = { token: "x", name: "x", password: goodPassword };
    assertRefused(await limited.anonymous("POST", "//session/invitation", body), 429);
  });
});

suite("requests of other pages", () => {
  const routes: readonly [method: string, path: string, body?: unknown][] = [
    ["GET", "/session/ways"],
    ["POST", "/session/password", { email: "a@example.com", password: goodPassword }],
    ["PUT", "/session/password", { current: goodPassword, password: "another good password" }],
    ["POST", "/session/again", { password: goodPassword }],
    ["GET", "/session/invitation?token=x"],
    ["POST", "/session/invitation", { token: "x", name: "x", password: goodPassword }],
    ["GET", "/session/list"],
    ["DELETE", "/session/list"],
    ["DELETE", "/session/list/0123456789abcdef"],
    ["POST", "/session/second-factor"],
    ["PUT", "/session/second-factor", { code: "123456" }],
    ["DELETE", "/session/second-factor"],
    ["POST", "/session/recovery-codes"],
  ];
  /** Before anybody is signed in there is no token. */
  const isOpen = (path: string) => /ways|invitation/.test(path);

  test("every route refuses another origin, and a change without the token of the session", async () => {
    const account = await newAccount(server);
    const { session } = account;
    const stranger = await newAccount(server);
    const good = headersOf(session);
    for (const [method, path, body] of routes) {
      for (const from of [
        { origin: "http://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
      ]) {
        const answer = await server.anonymous(method, `/${path}`, body, { ...good, ...from });
        assertRefused(answer, 403, "another");
        assert.equal(setCookieOf(answer), undefined, path);
      }
      const isSignIn = method === "POST" && path === "/session/password";
      if (method === "GET" || isSignIn || isOpen(path)) continue;
      for (const token of [undefined, "", "wrong", stranger.session.csrf]) {
        const headers = {
          cookie: session.cookie,
          ...(token !== undefined && { "x-halyard-csrf": token }),
        };
        assertRefused(await server.anonymous(method, `/${path}`, body, headers), 403, "token");
      }
      const { csrf } = session;
      const nobody = { "x-halyard-csrf": csrf };
      assertRefused(await server.anonymous(method, `/${path}`, body, nobody), 401, "not signed in");
    }
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const text = `email=${account.email}&password=${account.password}`;
    assertRefused(await server.anonymous("POST", "//session/password", text, form), 415);
    assert.equal((await read(session.cookie)).status, 200);
    await signedIn(server, account);
  });

  test("those who came with a key have no account; an environment may have the name of a route", async () => {
    const { keys } = await server.environment();
    const key = await signInWith(server, [keys.admin]);
    for (const [method, path, body] of routes) {
      const isSignIn = method === "POST" && path === "/session/password";
      if (isOpen(path) || isSignIn || /\/(list|second-factor)$/.test(path)) continue;
      const answer = await server.anonymous(method, `/${path}`, body, headersOf(key));
      assertRefused(answer, 403, "have an account");
    }
    // As DELETE /session/{environment} does for an environment that is not in the session.
    for (const path of ["//session/list", "//session/second-factor"]) {
      const answer = await server.anonymous("DELETE", path, undefined, headersOf(key));
      assert.equal(answer.status, 204, answer.text);
    }
    assert.equal((await read(key.cookie)).status, 200);
  });
});
