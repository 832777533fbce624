// Webhooks over real HTTP: every row of the interface about registering, showing, changing and removing them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Api, OpenApi } from "./support/api.ts";
import { readContents } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const url = "http://127.0.0.1:9/Hook?A=b";
const eventNames = [
  "flag.created",
  "flag.enabled",
  "flag.disabled",
  "flag.updated",
  "flag.deleted",
];

interface Created {
  readonly id: string;
  readonly secret: string;
}

interface Shown {
  readonly id: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly createdAt: string;
}

const create = async (admin: Api, events: readonly string[] = ["*"]): Promise<Created> => {
  const made = await admin("POST", "/webhooks", { url, events });
  assert.equal(made.status, 201, made.text);
  return made.body as Created;
};

const list = async (admin: Api): Promise<Shown[]> => {
  const answer = await admin("GET", "/webhooks");
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Shown[];
};

test("POST answers 201 with exactly id, url, events, secret and active, and it is active", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/webhooks", {
    url,
    events: ["flag.enabled", "flag.disabled", "flag.updated"],
  });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("content-type"), "application/json; charset=utf-8");
  const { id, secret } = made.body as Created;
  assert.match(id, /^wh_[0-9a-z]+$/);
  assert.deepEqual(made.body, {
    id,
    url,
    events: ["flag.enabled", "flag.disabled", "flag.updated"],
    secret,
    active: true,
  });
});

test("a secret is whsec_ and the base64 of 32 bytes, and each webhook has its own", async () => {
  const { admin } = await server.environment();
  const [one, two] = [await create(admin), await create(admin)];
  for (const { secret } of [one, two]) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice("whsec_".length), "base64").length, 32);
  }
  assert.notEqual(one.secret, two.secret);
  assert.notEqual(one.id, two.id);
});

test("the list and GET of one show id, url, events, active and createdAt, oldest first", async () => {
  const { admin } = await server.environment();
  assert.deepEqual(await list(admin), []);
  const began = Date.now();
  const first = await create(admin, ["flag.enabled"]);
  // Two that were made within one millisecond have no order.
  for (const made = Date.now(); Date.now() === made; );
  const second = await create(admin, ["*"]);
  const ended = Date.now();
  const shown = await list(admin);
  const [one, two] = shown;
  assert.ok(one && two);
  assert.deepEqual(shown, [
    { id: first.id, url, events: ["flag.enabled"], active: true, createdAt: one.createdAt },
    { id: second.id, url, events: ["*"], active: true, createdAt: two.createdAt },
  ]);
  for (const { id, createdAt } of shown) {
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Date.parse(createdAt) >= began && Date.parse(createdAt) <= ended, createdAt);
    const single = await admin("GET", `/webhooks/${id}`);
    assert.equal(single.status, 200);
    assert.deepEqual(
      single.body,
      shown.find((webhook) => webhook.id === id),
    );
  }
});

test("no later answer shows the secret, and the files of the server do not hold it", async () => {
  const { admin } = await server.environment();
  const body = { url, events: ["*"] };
  const made = await admin("POST", "/webhooks", body, { "idempotency-key": "once" });
  const { id, secret } = made.body as Created;
  const random = secret.slice("whsec_".length);
  const answers = [
    await admin("GET", "/webhooks"),
    await admin("GET", `/webhooks/${id}`),
    await admin("PATCH", `/webhooks/${id}`, { active: false }),
  ];
  for (const answer of answers) assert.ok(!answer.text.includes(random), answer.text);

  const contents = [...(await readContents(server)).values()];
  // The id is there, so this does look at the bytes that were written.
  assert.ok(contents.some((bytes) => bytes.includes(id)));
  const decoded = Buffer.from(random, "base64");
  for (const form of [random, decoded, decoded.toString("hex"), decoded.toString("base64url")]) {
    assert.ok(!contents.some((bytes) => bytes.includes(form)), "a file holds the secret");
  }
});

test("url and events are required, each named when it is missing or of the wrong kind", async () => {
  const { admin } = await server.environment();
  const events = ["*"];
  const refusals: [unknown, ...string[]][] = [
    [{}, "url", "events"],
    [{ events }, "url is required"],
    [{ url }, "events is required"],
    [{ url: null, events }, "url"],
    [{ url: 7, events }, "url"],
    [{ url: [url], events }, "url"],
    [{ url, events: null }, "events"],
    [{ url, events: "*" }, "events"],
    [{ url, events: {} }, "events"],
    [{ url, events: [] }, "events", ...eventNames],
    [{ url, events: [1] }, "events[0]"],
    [{ url, events: ["*", null] }, "events[1]"],
    [{ url, events, active: false }, "active"],
    [{ url, events, secret: "whsec_mine" }, "secret"],
    [{ url, events, id: "wh_mine" }, "id"],
  ];
  for (const [body, ...words] of refusals) {
    assertRefused(await admin("POST", "/webhooks", body), 400, ...words);
  }
  assert.deepEqual(await list(admin), []);
});

test("events: every allowed name and * are taken, repetitions are folded", async () => {
  const { admin } = await server.environment();
  const repeated = ["flag.updated", "flag.enabled", "flag.updated", "flag.enabled"];
  const wanted = [...[...eventNames, "*"].map((name) => [name]), repeated];
  for (const events of wanted) {
    const { id } = await create(admin, events);
    const { body } = await admin("GET", `/webhooks/${id}`);
    assert.deepEqual((body as Shown).events, [...new Set(events)]);
  }
});

test("an unknown event name is refused with the name and all the allowed ones", async () => {
  const { admin } = await server.environment();
  const { id } = await create(admin, ["flag.enabled"]);
  for (const name of ["flag.exploded", "FLAG.ENABLED", "", "flag.*", "webhook.test", "toString"]) {
    const events = ["flag.enabled", name];
    const words = [`"${name}"`, ...eventNames, "*"];
    assertRefused(await admin("POST", "/webhooks", { url, events }), 400, ...words);
    assertRefused(await admin("PATCH", `/webhooks/${id}`, { events }), 400, ...words);
  }
  assert.deepEqual(
    (await list(admin)).map(({ events }) => events),
    [["flag.enabled"]],
  );
});

test("PATCH turns a webhook off and on and changes its events, and answers it as the list does", async () => {
  const { admin } = await server.environment();
  const { id } = await create(admin, ["flag.enabled"]);
  const [before] = await list(admin);
  const patches: [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>][] = [
    [{ active: false }, { ...before, active: false }],
    [{ active: false }, { ...before, active: false }],
    [{ active: true }, { ...before }],
    [{ events: ["*", "*"] }, { ...before, events: ["*"] }],
    [{}, { ...before, events: ["*"] }],
    [
      { active: false, events: ["flag.deleted"] },
      { ...before, active: false, events: ["flag.deleted"] },
    ],
  ];
  for (const [patch, expected] of patches) {
    const patched = await admin("PATCH", `/webhooks/${id}`, patch);
    assert.deepEqual([patched.status, patched.body], [200, expected], JSON.stringify(patch));
    assert.deepEqual(await list(admin), [expected]);
  }
});

test("PATCH refuses what is fixed, unknown or of the wrong kind, and changes nothing", async () => {
  const { admin } = await server.environment();
  const { id } = await create(admin, ["flag.enabled"]);
  const before = await list(admin);
  const refusals: [unknown, ...string[]][] = [
    [{ url: "https://example.com/other" }, "url", "fixed at creation"],
    [{ id: "wh_other" }, "id", "fixed at creation"],
    [{ active: false, url }, "url", "fixed at creation"],
    [{ secret: "whsec_mine" }, "secret"],
    [{ createdAt: "2026-11-14T12:00:00.000Z" }, "createdAt"],
    [{ active: false, colour: "red" }, "colour"],
    [{ active: "false" }, "active", "true or false"],
    [{ active: null }, "active"],
    [{ active: 0 }, "active"],
    [{ active: false, events: [] }, "events"],
    [{ active: false, events: null }, "events"],
    [[], "JSON object"],
  ];
  for (const [body, ...words] of refusals) {
    assertRefused(await admin("PATCH", `/webhooks/${id}`, body), 400, ...words);
  }
  assert.deepEqual(await list(admin), before);
});

test("DELETE answers 204 without a body, and then the webhook is gone", async () => {
  const { admin } = await server.environment();
  const [gone, kept] = [await create(admin), await create(admin)];
  const removed = await admin("DELETE", `/webhooks/${gone.id}`);
  assert.deepEqual([removed.status, removed.text], [204, ""]);
  assert.deepEqual(
    (await list(admin)).map(({ id }) => id),
    [kept.id],
  );
  assertRefused(await admin("GET", `/webhooks/${gone.id}`), 404, gone.id);
  assertRefused(await admin("DELETE", `/webhooks/${gone.id}`), 404, gone.id);
});

test("a webhook that is not there is 404 on every path, and the message names its id", async () => {
  const { admin } = await server.environment();
  const other = await create((await server.environment()).admin);
  const { paths } = (await admin("GET", "//openapi.json")).body as OpenApi;
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/v1/webhooks/{id}"))
    .flatMap(([path, methods]) => Object.entries(methods).map(([m, o]) => [path, m, o] as const));
  assert.ok(operations.length >= 3);
  for (const id of ["wh_0123456789abcdef01234567", "wh_", "nonsense", "a b", other.id]) {
    for (const [path, method, operation] of operations) {
      const filled = path
        .replace("/api/v1", "")
        .replace("{id}", encodeURIComponent(id))
        .replace(/\{[^}]+\}/g, "dlv_0123456789abcdef");
      const { requestBody } = operation as {
        requestBody?: { content: { "application/json": { example?: unknown } } };
      };
      const body = requestBody && (requestBody.content["application/json"].example ?? {});
      assertRefused(await admin(method.toUpperCase(), filled, body), 404, `"${id}"`);
    }
  }
  assert.deepEqual(await list(admin), [], "a webhook of another environment is not there at all");
});

test("an environment holds 100 webhooks, however many are asked for at once", async () => {
  const { admin } = await server.environment();
  const post = () => admin("POST", "/webhooks", { url, events: ["*"] });
  for (let made = 0; made < 95; made += 5) await Promise.all(Array.from({ length: 5 }, post));
  const answers = await Promise.all(Array.from({ length: 10 }, post));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 5);
  for (const answer of refused) assertRefused(answer, 409, "100 webhooks");
  const shown = await list(admin);
  assert.equal(shown.length, 100);
  await create((await server.environment()).admin);
  await admin("DELETE", `/webhooks/${shown[0]?.id}`);
  await create(admin);
  assertRefused(await post(), 409, "100 webhooks");
});

test("the same POST with the same Idempotency-Key makes one webhook and shows its secret again", async () => {
  const { admin } = await server.environment();
  const post = (events: string[]) =>
    admin("POST", "/webhooks", { url, events }, { "idempotency-key": "k1" });
  const first = await post(["*"]);
  const again = await post(["*"]);
  assert.deepEqual([again.status, again.body], [201, first.body]);
  assert.equal((await list(admin)).length, 1);
  assertRefused(await post(["flag.enabled"]), 409, '"k1"');
  assert.equal((await list(admin)).length, 1);
});

test("an unknown parameter in the query is refused by name", async () => {
  const { admin } = await server.environment();
  assertRefused(await admin("GET", "/webhooks?limit=1"), 400, "limit");
  assertRefused(await admin("POST", "/webhooks?x=1", { url, events: ["*"] }), 400, "x");
  assert.deepEqual(await list(admin), []);
});
