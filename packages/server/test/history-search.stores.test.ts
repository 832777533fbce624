// Searches through the history: partial text, ignoring case, the same on both stores, and bounded work.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused, nextPath } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { writeRows } from "./support/database.ts";
import { signInAs } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { onPostgres } from "./support/test-store.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Listed {
  readonly subject: string;
  readonly id: string;
  readonly actions: readonly string[];
}

const read = async (api: Api, query: Readonly<Record<string, string>>): Promise<Listed[]> => {
  const answer = await api("GET", `/history?${new URLSearchParams(query).toString()}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Listed[];
};

/** The results, oldest first. */
const found = async (api: Api, query: Readonly<Record<string, string>>): Promise<string[]> =>
  (await read(api, query)).map(({ id }) => id).toReversed();

const make = async (api: Api, path: string, body: object): Promise<Answer> => {
  const made = await api("POST", path, body);
  assert.equal(made.status, 201, made.text);
  return made;
};

test("part of a key, a description, a name or a reason is enough, in any case", async () => {
  const { admin } = await server.environment();
  await make(admin, "/flags", { key: "Checkout-new", type: "boolean" });
  await make(admin, "/flags", { key: "pay.CHECKOUT", type: "boolean" });
  await make(admin, "/flags", { key: "other", type: "boolean", description: "The checkout" });
  await make(admin, "/flags?reason=For%20the%20Checkout", { key: "why", type: "boolean" });
  await make(admin, "/flags", { key: "unlike", type: "boolean" });
  await make(admin, "/segments", { key: "checkout-testers" });
  const key = await make(admin, "/keys", { name: "CheckOut bot", role: "server" });
  const webhook = await make(admin, "/webhooks", {
    url: "https://example.com/checkout",
    events: ["*"],
  });
  const idOf = ({ body }: Answer) => (body as { id: string }).id;
  assert.deepEqual(await found(admin, { q: "checkout" }), [
    ...["Checkout-new", "pay.CHECKOUT", "other", "why", "checkout-testers"],
    ...[idOf(key), idOf(webhook)],
  ]);
  assert.deepEqual(await found(admin, { q: idOf(key).slice(2).toUpperCase() }), [idOf(key)]);
  assert.deepEqual(await found(admin, { q: "checkout", subject: "segment" }), ["checkout-testers"]);
  assert.deepEqual(await found(admin, { q: "check", subject: "flag", id: "why" }), ["why"]);
  assert.deepEqual(await found(admin, { q: "nowhere" }), []);

  // The current description also finds changes from before the flag had it.
  await admin("PATCH", "/flags/unlike", { description: "Checkout, too" });
  assert.deepEqual(await found(admin, { q: "out, too" }), ["unlike", "unlike"]);
  await admin("PATCH", "/flags/unlike", { description: null });
  assert.deepEqual(await found(admin, { q: "out, too" }), ["unlike", "unlike"]);
});

test("case is ignored in every script; %, _ and \\ are ordinary characters; accents count", async () => {
  const { admin } = await server.environment();
  const texts = ["Größe", "ÉTÉ", "Σίσυφος", "ЖАЛОБА", "50 % off", "a_b", "back\\slash", "ﬁle"];
  for (const [index, description] of texts.entries()) {
    await make(admin, "/flags", { key: `f${index}`, type: "boolean", description });
  }
  for (const [q, ...expected] of [
    ["gRÖSSE", "f0"],
    ["größe", "f0"],
    ["e\u0301t", "f1"],
    ["ete"],
    ["σίσυφοσ", "f2"],
    ["ΣΊΣΥΦΟΣ", "f2"],
    ["жалоба", "f3"],
    ["%", "f4"],
    ["5_ %"],
    ["A_B", "f5"],
    ["k\\s", "f6"],
    ["FILE", "f7"],
  ] as const) {
    assert.deepEqual(await found(admin, { q, subject: "flag" }), expected, q);
  }
});

test("who matches part of the name or id of a person or their key; actor stays exact", async () => {
  const { name, admin } = await server.environment();
  const ada = await signInAs(server, { name: "Ädá Lovelace", roles: { [name]: "admin" } });
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const own = await make(ada.in(name), "/personal-keys", { name: "cli", role: "admin", expiresAt });
  const { id, key } = own.body as { id: string; key: string };
  const cli = server.api(key);
  await make(cli, "/flags", { key: "with-key", type: "boolean" });
  await make(ada.in(name), "/flags", { key: "signed-in", type: "boolean" });
  await make(admin, "/flags", { key: "not-hers", type: "boolean" });
  const flags = { subject: "flag" };
  const both = ["with-key", "signed-in"];
  for (const who of ["ädá love", "LACE", "Ädá Lovelace", ada.userId]) {
    assert.deepEqual(await found(admin, { who, ...flags }), both, who);
  }
  for (const who of ["CLI", id.slice(3), "lovelace (key cli)"]) {
    assert.deepEqual(await found(admin, { who, ...flags }), ["with-key"], who);
  }
  assert.deepEqual(await found(admin, { who: "ada love", ...flags }), []);
  assert.deepEqual(await found(admin, { actor: "cl", ...flags }), []);
  assert.deepEqual(await found(admin, { actor: "cli", ...flags }), ["with-key"]);
  assert.deepEqual(await found(admin, { actor: ada.userId, ...flags }), both);
  assert.deepEqual(await found(admin, { actor: ada.userId, q: "KEY", ...flags }), ["with-key"]);
});

test("tag and owner select flags that have them now, or had them at the change", async () => {
  const { admin } = await server.environment();
  await make(admin, "/flags", { key: "later", type: "boolean" });
  await make(admin, "/flags", { key: "lost", type: "boolean", tags: ["Payments"], owner: "shop" });
  await make(admin, "/flags", { key: "gone", type: "boolean", tags: ["payments-eu"] });
  await make(admin, "/flags", { key: "never", type: "boolean", tags: ["search"], owner: "core" });
  await make(admin, "/segments", { key: "payments" });
  const change = async (key: string, patch: object) => {
    const changed = await admin("PATCH", `/flags/${key}`, patch);
    assert.equal(changed.status, 200, changed.text);
  };
  await change("later", { enabled: true });
  await change("later", { tags: ["PAYMENTS"], owner: "Team Shop" });
  await change("lost", { tags: [], owner: null });
  await change("lost", { enabled: true });
  await admin("DELETE", "/flags/gone");
  // The last change of `lost` was made without the tag, and it has none now.
  const expected = ["later", "lost", "gone", "later", "later", "lost", "gone"];
  assert.deepEqual(await found(admin, { tag: "payment" }), expected);
  assert.deepEqual(await found(admin, { owner: "SHOP" }), [
    "later",
    "lost",
    "later",
    "later",
    "lost",
  ]);
  assert.deepEqual(await found(admin, { tag: "pay", owner: "team", q: "LATE" }), [
    ...["later", "later", "later"],
  ]);
  assert.deepEqual(await found(admin, { tag: "eu", deleted: "true" }), ["gone"]);
  for (const [query, field] of [
    ["q=", "q"],
    ["who=", "who"],
    ["tag=", "tag"],
    ["owner=", "owner"],
    ["subject=segment&tag=a", "tag selects flags"],
    ["subject=key&owner=a", "owner selects flags"],
    [`q=${"a".repeat(201)}`, "q must be"],
  ] as const) {
    assertRefused(await admin("GET", `/history?${query}`), 400, field);
  }
});

test("a search doesn't find values that are hidden from the caller", async () => {
  const { admin, server: reader } = await server.environment();
  const url = "https://hooks.example.com/s3cret-path?token=abc";
  const { body } = await make(admin, "/webhooks", { url, events: ["*"] });
  const { id } = body as { id: string };
  for (const q of ["s3cret", "token=a", "hooks.example"]) {
    assert.deepEqual(await found(admin, { q, subject: "webhook" }), [id], q);
  }
  assert.deepEqual(await found(reader, { q: "hooks.example", subject: "webhook" }), [id]);
  for (const q of ["s3cret", "token=a"]) assert.deepEqual(await found(reader, { q }), [], q);
});

test("a search of a long history continues page by page, and other requests get responses meanwhile", async () => {
  const { admin } = await server.environment();
  await make(admin, "/flags", { key: "Needle", type: "boolean" });
  await make(admin, "/flags", { key: "hay", type: "boolean" });
  const count = 25_000;
  const numbers = onPostgres
    ? `generate_series(1, ${count}) as numbers(n)`
    : `(with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count}) select n from numbers) as numbers`;
  await writeRows(
    server,
    `insert into history (environment_id, subject, subject_id, version, at, actor_name, actions, before, after)
     select environment_id, subject, subject_id, n + 1, at + n, actor_name, actions, before, after
     from history, ${numbers} where id = (select max(id) from history)`,
  );
  let isSearching = true;
  const search = async () => {
    const pages: string[][] = [];
    for (let path: string | undefined = "/history?q=nEEDLE&limit=5"; path !== undefined; ) {
      const page: Answer = await admin("GET", path);
      assert.equal(page.status, 200, page.text);
      pages.push((page.body as Listed[]).map(({ id }) => id));
      path = nextPath(page);
    }
    isSearching = false;
    return pages;
  };
  let answered = 0;
  const others = async () => {
    while (isSearching) {
      assert.equal((await admin("GET", "/flags/hay")).status, 200);
      if (isSearching) answered += 1;
    }
  };
  const [pages] = await Promise.all([search(), others()]);
  assert.deepEqual(pages, [[], [], ["Needle"]]);
  assert.ok(answered > pages.length, `${answered} others were answered`);

  // A full page ends where it is full, and the next one repeats nothing.
  const first = await admin("GET", "/history?q=HAY&limit=1000");
  const second = await admin("GET", nextPath(first) ?? "");
  const versions = [first, second].flatMap(({ body }) =>
    (body as { version: number }[]).map(({ version }) => version),
  );
  assert.deepEqual(
    versions,
    Array.from({ length: 2_000 }, (_, index) => count + 1 - index),
  );
});
