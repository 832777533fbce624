// Sessions behind TLS, on several instances, and where there is no dashboard.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, suite, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { setCookieOf, signInWith } from "./support/session.ts";

suite("behind TLS", () => {
  const https = { "x-forwarded-proto": "https", "x-forwarded-host": "flags.example.com" };

  test("the cookie is bound to the host and to TLS", async (t) => {
    const server = await startTestServer({ HALYARD_TRUST_PROXY: "true" });
    t.after(() => server.close());
    const { name, keys } = await server.environment();
    const session = await signInWith(server, [keys.admin], https);
    assert.match(session.cookie, /^__Host-halyard_session=/);
    const answer = await server.anonymous("POST", "//session", { key: keys.admin }, https);
    assert.deepEqual(setCookieOf(answer)?.attributes, [
      "HttpOnly",
      "Max-Age=43200",
      "Path=/",
      "SameSite=Strict",
      "Secure",
    ]);
    const headers = { ...https, ...session.headersFor(name) };
    const own = { ...headers, origin: "https://flags.example.com" };
    assert.equal((await server.anonymous("GET", "/flags", undefined, own)).status, 200);
    const inside = { ...headers, origin: server.url };
    assertRefused(await server.anonymous("GET", "/flags", undefined, inside), 403);

    // A name that anybody on a neighbouring host can set does not count here, nor the other way round.
    const plain = session.cookie.replace("__Host-", "");
    const planted = { ...headers, cookie: plain };
    assertRefused(await server.anonymous("GET", "/flags", undefined, planted), 401);
    assertRefused(
      await server.anonymous("GET", "/flags", undefined, session.headersFor(name)),
      401,
      "API key",
    );

    const out = await server.anonymous("DELETE", "//session", undefined, headers);
    const cleared = setCookieOf(out);
    assert.equal(cleared?.pair, "__Host-halyard_session=");
    assert.ok(cleared?.attributes.includes("Secure"));
  });

  test("nobody's word is taken for it unless the proxy is trusted", async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const { keys } = await server.environment();
    assert.match((await signInWith(server, [keys.admin], https)).cookie, /^halyard_session=/);
  });

  test("HALYARD_PUBLIC_URL says it for a proxy that says nothing", async (t) => {
    const server = await startTestServer({ HALYARD_PUBLIC_URL: "https://flags.example.com" });
    t.after(() => server.close());
    const { name, keys } = await server.environment();
    const own = { origin: "https://flags.example.com" };
    const session = await signInWith(server, [keys.admin], own);
    const headers = { ...session.headersFor(name), ...own };
    assert.equal((await server.anonymous("GET", "/flags", undefined, headers)).status, 200);
    const plain = { ...headers, origin: "http://flags.example.com" };
    assertRefused(await server.anonymous("GET", "/flags", undefined, plain), 403);
    assert.equal(server.dashboardUrl, "https://flags.example.com");
  });
});

suite("several instances", () => {
  const folder = newFolder();
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await dropDatabase(basename(folder));
  });
  const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");
  const start = (...keys: string[]) =>
    startTestServer({ HALYARD_DATA: folder, HALYARD_SECRET_KEY: keys.join(",") });

  test("every instance on the store knows it, whatever its secret keys are, and nobody else does", async (t) => {
    const old = await start(key(1));
    const renewed = await start(key(2));
    const stranger = await startTestServer();
    t.after(() => Promise.all([old, renewed, stranger].map((each) => each.close())));
    const { name, keys } = await old.environment();
    for (const maker of [old, renewed]) {
      const session = await signInWith(maker, [keys.admin]);
      const headers = session.headersFor(name);
      for (const server of [old, renewed, stranger]) {
        const isKnown = server !== stranger;
        const patch = await server.anonymous(
          "POST",
          "/flags",
          { key: randomKey(), type: "boolean" },
          headers,
        );
        assert.equal(patch.status, isKnown ? 201 : 401, patch.text);
      }
    }
  });

  test("a key that another instance has issued a moment ago is found", async (t) => {
    const [one, two] = [await start(key(1)), await start(key(1))];
    t.after(() => Promise.all([one.close(), two.close()]));
    const { name, admin } = await one.environment();
    for (let turn = 0; turn < 5; turn += 1) {
      const made = await admin("POST", "/keys", { name: `key ${turn}`, role: "admin" });
      const session = await signInWith(one, [(made.body as { key: string }).key]);
      const answer = await two.anonymous("GET", "/flags", undefined, session.headersFor(name));
      assert.equal(answer.status, 200, answer.text);
    }
  });
});

const randomKey = (): string => `flag-${randomBytes(6).toString("hex")}`;

test("without a dashboard there is neither page nor session", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { name, keys } = await server.environment();
  const session = await signInWith(server, [keys.admin]);
  const bare = await startTestServer({ HALYARD_DASHBOARD: "off", HALYARD_DATA: server.folder });
  t.after(() => bare.close());
  for (const path of ["//", "//flags", "//sign-in", "//session", "//assets/index.js"]) {
    assertRefused(await bare.anonymous("GET", path), 404);
  }
  assertRefused(await bare.anonymous("POST", "//session", { key: keys.admin }), 404);
  const headers = session.headersFor(name);
  assertRefused(await bare.anonymous("GET", "/flags", undefined, headers), 401, "API key");
  assert.equal(bare.dashboardUrl, undefined);
  assert.equal((await bare.api(keys.admin)("GET", "/flags")).status, 200);
});
