// Keys that expire, keys for the pages of certain origins, and what a key can learn of itself.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { openStream } from "./support/event-reader.ts";
import { day, hour, minute, movableClock } from "./support/movable-clock.ts";
import { assertProtocolRefusal } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { signInWith } from "./support/session.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly expiresAt: string | null;
  readonly origins: readonly string[] | null;
}

const create = async (admin: Api, body: object): Promise<CreatedKey> => {
  const made = await admin("POST", "/keys", { name: "limited", ...body });
  assert.equal(made.status, 201, made.text);
  return made.body as CreatedKey;
};

const inOneHour = () => new Date(clock.clock().getTime() + hour).toISOString();
const single = "//ofrep/v1/evaluate/flags/a";
const bulk = "//ofrep/v1/evaluate/flags";
const context = { context: { targetingKey: "user-1" } };

test("GET /key tells every role its id, name, role, environment and expiry", async () => {
  const { name, admin, keys } = await server.environment();
  for (const role of ["admin", "server", "client"] as const) {
    const { status, body } = await server.api(keys[role])("GET", "/key");
    const id = keys[role].split("_")[1];
    const expected = { id, name: role, role, environment: name, expiresAt: null };
    assert.deepEqual([status, body], [200, expected]);
  }
  const { id, key, expiresAt } = await create(admin, { role: "client", expiresAt: inOneHour() });
  assert.deepEqual((await server.api(key)("GET", "/key")).body, {
    id,
    name: "limited",
    role: "client",
    environment: name,
    expiresAt,
  });
  const session = await signInWith(server, [keys.server]);
  const own = await server.anonymous("GET", "/key", undefined, session.headersFor(name));
  assert.equal((own.body as { role: string }).role, "server");
});

suite("expiry", () => {
  test("a key works until its time, and from then on is refused everywhere at once, with the reason", async () => {
    const { name, admin } = await server.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const at = inOneHour();
    const made = await create(admin, { role: "admin", expiresAt: at.replace(".000Z", "Z") });
    assert.equal(made.expiresAt, at);
    const [listed] = ((await admin("GET", "/keys")).body as CreatedKey[]).filter(
      ({ id }) => id === made.id,
    );
    assert.equal(listed?.expiresAt, at);

    const api = server.api(made.key);
    const session = await signInWith(server, [made.key]);
    const page = session.headersFor(name);
    const bearer = { authorization: `Bearer ${made.key}` };
    clock.forward(hour - minute);
    assert.equal((await api("GET", "/flags")).status, 200);
    assert.equal((await api("POST", single, context)).status, 200);
    const { eventStreams } = (await api("POST", bulk, context)).body as {
      eventStreams: [{ url: string }];
    };
    assert.equal((await server.anonymous("GET", "/flags", undefined, page)).status, 200);
    const streams = [
      await openStream(`${server.url}/api/v1/stream`, bearer),
      await openStream(`${server.url}/api/v1/stream`, page),
      await openStream(eventStreams[0].url),
    ];
    await Promise.all(streams.map((stream) => stream.first(1)));

    clock.forward(minute);
    assertRefused(await api("GET", "/flags"), 401, "expired", at);
    assertRefused(await api("GET", "/key"), 401, "expired", at);
    for (const path of [single, bulk]) {
      assertProtocolRefusal(await api("POST", path, context), 401, "expired");
    }
    assertRefused(await server.anonymous("GET", "/flags", undefined, page), 401, "not signed in");
    assertRefused(await server.anonymous("POST", "//session", { key: made.key }), 401, "expired");
    assert.equal((await fetch(eventStreams[0].url)).status, 401);
    await Promise.all(streams.map((stream) => stream.untilEnded()));

    // It stays in the list, so that people see why; it can be revoked, and does not count as an admin key.
    const own = (await admin("GET", "/key")).body as { id: string };
    assertRefused(await admin("DELETE", `/keys/${own.id}`), 409, "last admin key");
    assert.equal((await admin("DELETE", `/keys/${made.id}`)).status, 204);
    assertRefused(await api("GET", "/flags"), 401, "revoked");
  });

  test("a day far away is a day, also on another instance and after a restart", async (t) => {
    const { admin } = await server.environment();
    const { key } = await create(admin, { role: "server", expiresAt: "2099-01-01" });
    const other = await startTestServer({ HALYARD_DATA: server.folder });
    t.after(() => other.close());
    const { body } = await other.api(key)("GET", "/key");
    assert.equal((body as { expiresAt: string }).expiresAt, "2099-01-01T00:00:00.000Z");
    clock.forward(60 * day);
    assert.equal((await server.api(key)("GET", "/flags")).status, 200);
  });
});

suite("origins", () => {
  const shop = "https://shop.example.com";
  const allowOrigin = ({ headers }: Answer) => headers.get("access-control-allow-origin");

  test("a key with origins works in pages of these alone, and the answer names the page", async () => {
    const { admin } = await server.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    const { key, origins } = await create(admin, {
      role: "client",
      origins: ["HTTPS://Shop.example.com:443/", shop, "http://localhost:5173"],
    });
    assert.deepEqual(origins, [shop, "http://localhost:5173"]);
    const api = server.api(key);
    const report = { evaluations: [{ key: "a", on: 1, off: 0 }] };
    const asked = [
      [single, context],
      [bulk, context],
      ["/usage", report],
    ] as const;
    for (const [path, body] of asked) {
      for (const origin of [shop, "http://localhost:5173"]) {
        // Twice: the second time the key is known.
        for (let turn = 0; turn < 2; turn += 1) {
          const answer = await api("POST", path, body, { origin });
          assert.ok(answer.status < 300, answer.text);
          assert.equal(allowOrigin(answer), origin);
        }
      }
      for (const headers of [
        {},
        { origin: "https://evil.example" },
        { origin: "http://shop.example.com" },
        { origin: `${shop}:8443` },
        { origin: `${shop}.evil.example` },
        { origin: "null" },
      ] as Record<string, string>[]) {
        const answer = await api("POST", path, body, headers);
        const why = headers.origin ?? "no Origin";
        if (path.startsWith("//")) assertProtocolRefusal(answer, 403, why);
        else assertRefused(answer, 403, why);
        assert.equal(allowOrigin(answer), "*", "the page can read why");
      }
    }
    const asking = await api("OPTIONS", bulk, undefined, { origin: shop });
    assert.equal(asking.status, 204, "the question before carries no key");

    const { eventStreams } = (await api("POST", bulk, context, { origin: shop })).body as {
      eventStreams: [{ url: string }];
    };
    const [{ url }] = eventStreams;
    // A page on the server's own origin sends none with a GET.
    for (const headers of [{ origin: shop }, {}] as Record<string, string>[]) {
      const stream = await openStream(url, headers);
      await stream.first(1);
      stream.close();
    }
    assert.equal((await fetch(url, { headers: { origin: "https://evil.example" } })).status, 401);
  });

  test("a key without origins works in any page and in programs", async () => {
    const { admin, client } = await server.environment();
    await admin("POST", "/flags", { key: "a", type: "boolean" });
    for (const headers of [{}, { origin: "https://any.example" }] as Record<string, string>[]) {
      const answer = await client("POST", single, context, headers);
      assert.equal(answer.status, 200);
      assert.equal(allowOrigin(answer), "*");
    }
  });
});
