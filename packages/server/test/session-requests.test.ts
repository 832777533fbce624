// What a request with a session must show, and which requests are refused because another page may have sent them.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { openStream } from "./support/event-reader.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { setCookieOf, signInWith, type TestSession } from "./support/session.ts";

let server: TestServer;
let here: TestEnvironment;
let there: TestEnvironment;
let session: TestSession;
before(async () => {
  server = await startTestServer();
  [here, there] = [await server.environment(), await server.environment()];
  session = await signInWith(server, [here.keys.admin, there.keys.admin]);
});
after(() => server.close());

const boolean = (key: string) => ({ key, type: "boolean" });
const keysIn = async ({ admin }: TestEnvironment) =>
  ((await admin("GET", "/flags")).body as { key: string }[]).map(({ key }) => key);

test("the header names the environment, and is needed", async () => {
  await here.admin("POST", "/flags", boolean("of-here"));
  await there.admin("POST", "/flags", boolean("of-there"));
  for (const [{ name }, key] of [
    [here, "of-here"],
    [there, "of-there"],
  ] as const) {
    const headers = { cookie: session.cookie, "x-halyard-environment": name };
    const { status, body } = await server.anonymous("GET", "/flags", undefined, headers);
    assert.equal(status, 200);
    assert.deepEqual(
      (body as { key: string }[]).map((flag) => flag.key),
      [key],
    );
  }
  const { cookie } = session;
  assertRefused(
    await server.anonymous("GET", "/flags", undefined, { cookie }),
    400,
    "X-Halyard-Environment",
  );
  const unknown = { cookie, "x-halyard-environment": "nowhere" };
  assertRefused(await server.anonymous("GET", "/flags", undefined, unknown), 401, "nowhere");
  const foreign = await server.environment();
  const stranger = { cookie, "x-halyard-environment": foreign.name };
  assertRefused(await server.anonymous("GET", "/flags", undefined, stranger), 401, foreign.name);
});

test("what one environment was answered is not what a browser shows for another", async () => {
  // Both environments are at the same revision, so their lists have the same ETag.
  const headers = session.headersFor(here.name);
  const answer = await server.anonymous("GET", "/flags", undefined, headers);
  const vary = answer.headers.get("vary")?.split(", ") ?? [];
  for (const name of ["cookie", "x-halyard-environment", "authorization", "x-api-key"]) {
    assert.ok(vary.includes(name), `${name} is not in Vary: ${vary.join(", ")}`);
  }
});

test("every change needs the token, and nothing happens without it", async () => {
  await here.admin("POST", "/flags", boolean("kept"));
  const other = await signInWith(server, [here.keys.admin]);
  const good = session.headersFor(here.name);
  const { "x-halyard-csrf": _token, ...without } = good as Record<string, string>;
  for (const headers of [
    without,
    { ...without, "x-halyard-csrf": "" },
    { ...without, "x-halyard-csrf": "wrong" },
    { ...without, "x-halyard-csrf": `${session.csrf}A` },
    { ...without, "x-halyard-csrf": other.csrf },
  ]) {
    for (const [method, path, body] of [
      ["POST", "/flags", boolean("never")],
      ["PATCH", "/flags/kept", { enabled: true }],
      ["DELETE", "/flags/kept", undefined],
      ["POST", "/webhooks", { url: "https://example.com/", events: ["*"] }],
      ["POST", "/keys", { name: "never", role: "admin" }],
    ] as const) {
      assertRefused(await server.anonymous(method, path, body, headers), 403, "X-Halyard-CSRF");
    }
    assert.equal((await server.anonymous("GET", "/flags/kept", undefined, headers)).status, 200);
  }
  const flag = (await here.admin("GET", "/flags/kept")).body as { enabled: boolean };
  assert.equal(flag.enabled, false);
  assert.ok(!(await keysIn(here)).includes("never"));

  const on = await server.anonymous("PATCH", "/flags/kept", { enabled: true }, good);
  assert.equal(on.status, 200, on.text);
  assert.equal((await server.anonymous("DELETE", "/flags/kept", undefined, good)).status, 204);
});

suite("other pages", () => {
  const own = () => new URL(server.url).host;
  const cases: [what: string, headers: () => Record<string, string>, good: boolean][] = [
    ["no word about where it comes from", () => ({}), true],
    ["our own page", () => ({ "sec-fetch-site": "same-origin" }), true],
    ["typed by a person", () => ({ "sec-fetch-site": "none" }), true],
    ["another site", () => ({ "sec-fetch-site": "cross-site" }), false],
    ["another port of this host", () => ({ "sec-fetch-site": "same-site" }), false],
    ["our own origin", () => ({ origin: server.url }), true],
    ["another origin", () => ({ origin: "http://evil.example" }), false],
    ["another port", () => ({ origin: "http://127.0.0.1:1" }), false],
    ["another scheme", () => ({ origin: server.url.replace("http:", "https:") }), false],
    ["a name that begins like ours", () => ({ origin: `http://${own()}.evil.example` }), false],
    ["an origin that hides itself", () => ({ origin: "null" }), false],
    [
      "our word against the browser's",
      () => ({ origin: server.url, "sec-fetch-site": "cross-site" }),
      false,
    ],
    [
      "the browser's word against the origin",
      () => ({ origin: "http://evil.example", "sec-fetch-site": "same-origin" }),
      false,
    ],
  ];
  for (const [what, more, good] of cases) {
    test(`${what}: ${good ? "answered" : "refused"}`, async () => {
      const asking = await signInWith(server, [here.keys.admin]);
      const headers = { ...asking.headersFor(here.name), ...more() };
      const asked = [
        await server.anonymous("GET", "/flags", undefined, headers),
        await server.anonymous("PATCH", "/flags/of-here", { enabled: true }, headers),
        await server.anonymous("GET", "//session", undefined, headers),
        await server.anonymous("DELETE", "//session/nowhere", undefined, headers),
        await server.anonymous("POST", "//session", { key: here.keys.admin }, more()),
      ];
      for (const answer of asked) {
        if (good) assert.ok(answer.status < 300, answer.text);
        else {
          assertRefused(answer, 403, what === "another scheme" ? "HALYARD_PUBLIC_URL" : "another");
          assert.equal(setCookieOf(answer), undefined);
        }
      }
      const out = await server.anonymous("DELETE", "//session", undefined, headers);
      assert.equal(out.status, good ? 204 : 403);
    });
  }

  test("a key in a header needs none of it, wherever the page is", async () => {
    for (const headers of [
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "same-site" },
    ]) {
      assert.equal((await here.admin("GET", "/flags", undefined, headers)).status, 200);
    }
  });

  test("nobody is told that pages of other origins may ask", async () => {
    const headers = { origin: "http://evil.example", "access-control-request-method": "DELETE" };
    for (const path of ["//session", "/flags", "/keys"]) {
      const answer = await server.anonymous("OPTIONS", path, undefined, headers);
      assert.equal(answer.headers.get("access-control-allow-origin"), null, path);
      assert.equal(answer.headers.get("access-control-allow-credentials"), null, path);
    }
    for (const path of ["//ofrep/v1/evaluate/flags", "/usage"]) {
      const answer = await server.anonymous("OPTIONS", path, undefined, headers);
      assert.equal(answer.headers.get("access-control-allow-credentials"), null, path);
      const allowed = answer.headers.get("access-control-allow-headers") ?? "";
      assert.doesNotMatch(allowed, /x-halyard/i, path);
    }
  });
});

test("a request with a key and a cookie is judged by the key alone", async () => {
  const foreign = await server.environment();
  await foreign.admin("POST", "/flags", boolean("of-the-key"));
  const headers = session.headersFor(here.name);
  const { body } = await foreign.admin("GET", "/flags", undefined, headers);
  assert.deepEqual(
    (body as { key: string }[]).map(({ key }) => key),
    ["of-the-key"],
  );
  const { cookie } = session;
  assert.equal(
    (await foreign.admin("DELETE", "/flags/of-the-key", undefined, { cookie })).status,
    204,
  );
  for (const bad of [
    { authorization: "Bearer nonsense" },
    { authorization: "" },
    { "x-api-key": "nonsense" },
    { "x-api-key": "" },
  ]) {
    const mixed = { ...headers, ...bad } as Record<string, string>;
    assertRefused(await server.anonymous("GET", "/flags", undefined, mixed), 401);
  }
});

test("sessions are for the management API: evaluation asks for a key", async () => {
  const headers = session.headersFor(here.name);
  const answer = await server.anonymous("POST", "//ofrep/v1/evaluate/flags", {}, headers);
  assert.equal(answer.status, 401, answer.text);
});

test("the page follows the flags with its session, until the key is revoked", async () => {
  const made = await here.admin("POST", "/keys", { name: "page", role: "server" });
  const { id, key } = made.body as { id: string; key: string };
  const page = await signInWith(server, [key]);
  const { cookie } = page;
  const stream = await openStream(`${server.url}/api/v1/stream`, {
    cookie,
    "x-halyard-environment": here.name,
  });
  const [first] = await stream.first(1);
  assert.equal(first?.event, "snapshot");
  await here.admin("DELETE", `/keys/${id}`);
  await stream.untilEnded();
});

test("the same POST twice is carried out once, apart from what the key itself has asked", async () => {
  const headers = { ...session.headersFor(here.name), "idempotency-key": "the same" };
  const body = { name: "made once", role: "client" };
  const first = await server.anonymous("POST", "/keys", body, headers);
  const second = await server.anonymous("POST", "/keys", body, headers);
  assert.equal(first.status, 201, first.text);
  assert.deepEqual([second.status, second.body], [201, first.body]);
  assert.equal(second.headers.get("idempotency-replayed"), "true");

  const byKey = await here.admin("POST", "/keys", body, { "idempotency-key": "the same" });
  assert.equal(byKey.status, 201, byKey.text);
  assert.notDeepEqual(byKey.body, first.body);
  const other = await signInWith(server, [here.keys.admin]);
  const inOther = { ...other.headersFor(here.name), "idempotency-key": "the same" };
  assert.equal((await server.anonymous("POST", "/keys", body, inOther)).status, 201);
  const changed = { ...body, name: "another" };
  assertRefused(await server.anonymous("POST", "/keys", changed, headers), 409, '"the same"');
});
