// GET /flags over real HTTP: its order, pages, filters and the tag that says whether anything has changed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused, nextPath } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
/** Only read by the tests; those that change flags take an environment of their own. */
let shared: TestEnvironment;

const flags = [
  { key: "0-first", type: "boolean", enabled: false, description: null },
  { key: "A", type: "boolean", enabled: true, description: "100 % sure" },
  { key: "Checkout", type: "rollout", enabled: true, percentage: 5, description: "New BASKET" },
  { key: "a", type: "boolean", enabled: false, description: "letter" },
  { key: "a-b", type: "rollout", enabled: false, percentage: 0, description: "checkout_two" },
  { key: "a.b", type: "boolean", enabled: true, description: "" },
  { key: "ab", type: "rollout", enabled: true, percentage: 100, description: "Straße 🚩" },
  { key: "z9", type: "rollout", enabled: false, percentage: 0.001, description: null },
] as const;
type Listed = (typeof flags)[number];

const make = async (admin: Api, flag: Listed): Promise<void> => {
  const { key, type, enabled, description } = flag;
  const percentage = "percentage" in flag ? { percentage: flag.percentage } : {};
  const made = await admin("POST", "/flags", { key, type, description, ...percentage });
  assert.equal(made.status, 201, made.text);
  if (enabled) assert.equal((await admin("PATCH", `/flags/${key}`, { enabled })).status, 200);
};

before(async () => {
  server = await startTestServer();
  shared = await server.environment();
  for (const index of [5, 2, 7, 0, 3, 6, 1, 4]) await make(shared.admin, flags[index] as Listed);
});
after(() => server.close());

const keysOf = (answer: Answer): string[] => {
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as Listed[]).map(({ key }) => key);
};

/** Every page from this path on, by the Link of each. */
const follow = async (api: Api, first: string): Promise<string[][]> => {
  const pages: string[][] = [];
  let path: string | undefined = first;
  while (path !== undefined) {
    const page: Answer = await api("GET", path);
    pages.push(keysOf(page));
    path = nextPath(page);
    assert.ok(pages.length <= flags.length, "the pages do not end");
  }
  return pages;
};

const allKeys = flags.map(({ key }) => key);

test("GET /flags gives all flags sorted by key, whatever order they were made in, without a Link", async () => {
  const answer = await shared.admin("GET", "/flags");
  assert.deepEqual(answer.body, flags);
  assert.equal(answer.headers.get("link"), null);
});

for (const limit of [1, 2, 3, 4, 7, 8, 9, 1_000]) {
  test(`pages of ${limit} hold every flag once, in order`, async () => {
    const pages = await follow(shared.server, `/flags?limit=${limit}`);
    assert.deepEqual(pages.flat(), allKeys);
    assert.equal(pages.length, Math.ceil(flags.length / limit));
    for (const page of pages.slice(0, -1)) assert.equal(page.length, limit);
  });
}

test("the Link goes to the same path, keeps the filters and the limit, and says next", async () => {
  const answer = await shared.admin("GET", "/flags?type=rollout&limit=1&q=%20");
  const link = answer.headers.get("link") ?? "";
  assert.match(link, /^<\/api\/v1\/flags\?[^>]+>; rel="next"$/);
  const query = new URLSearchParams(link.slice(link.indexOf("?") + 1, link.indexOf(">")));
  assert.ok(query.get("cursor"));
  query.delete("cursor");
  assert.deepEqual(Object.fromEntries(query), { type: "rollout", limit: "1", q: " " });
});

test("a cursor without a limit gives all the rest", async () => {
  const path = nextPath(await shared.admin("GET", "/flags?limit=3")) ?? "";
  const cursor = new URLSearchParams(path.slice(path.indexOf("?"))).get("cursor");
  const rest = await shared.admin("GET", `/flags?cursor=${cursor}`);
  assert.deepEqual([keysOf(rest), nextPath(rest)], [allKeys.slice(3), undefined]);
});

test("pages go on at their place though flags come and go between them", async () => {
  const { admin } = await server.environment();
  for (const key of ["b", "d", "f", "h"]) await admin("POST", "/flags", { key, type: "boolean" });
  const first = await admin("GET", "/flags?limit=2");
  assert.deepEqual(keysOf(first), ["b", "d"]);
  await admin("DELETE", "/flags/d");
  for (const key of ["a", "e", "i"]) await admin("POST", "/flags", { key, type: "boolean" });
  assert.deepEqual(await follow(admin, nextPath(first) ?? ""), [
    ["e", "f"],
    ["h", "i"],
  ]);
});

test("the last page is empty when all that came after the cursor is gone", async () => {
  const { admin } = await server.environment();
  for (const key of ["a", "b"]) await admin("POST", "/flags", { key, type: "boolean" });
  const path = nextPath(await admin("GET", "/flags?limit=1")) ?? "";
  await admin("DELETE", "/flags/b");
  assert.deepEqual(await follow(admin, path), [[]]);
});

const has = (text: string) => (flag: Listed) =>
  flag.key.toLowerCase().includes(text) || (flag.description ?? "").toLowerCase().includes(text);
const filters: readonly [string, (flag: Listed) => boolean, number][] = [
  ["type=boolean", ({ type }) => type === "boolean", 4],
  ["type=rollout", ({ type }) => type === "rollout", 4],
  ["enabled=true", ({ enabled }) => enabled, 4],
  ["enabled=false", ({ enabled }) => !enabled, 4],
  ["q=checkout", has("checkout"), 2],
  ["q=CHECKOUT", has("checkout"), 2],
  ["q=basket", has("basket"), 1],
  ["q=a-b", has("a-b"), 1],
  ["q=a.b", has("a.b"), 1],
  ["q=_", has("_"), 1],
  ["q=%25", has("%"), 1],
  ["q=Stra%C3%9Fe", has("straße"), 1],
  ["q=%F0%9F%9A%A9", has("🚩"), 1],
  ["q=null", has("null"), 0],
  ["q=", () => true, 8],
  ["type=rollout&enabled=true", (flag) => flag.type === "rollout" && flag.enabled, 2],
  ["type=rollout&q=checkout", (flag) => flag.type === "rollout" && has("checkout")(flag), 2],
  ["enabled=false&q=checkout", (flag) => !flag.enabled && has("checkout")(flag), 1],
  [
    "q=b&enabled=true&type=boolean",
    (flag) => has("b")(flag) && flag.enabled && flag.type === "boolean",
    1,
  ],
  ["type=boolean&q=basket", () => false, 0],
];
for (const [query, matches, count] of filters) {
  test(`GET /flags?${query} gives the ${count} flags that match, whole and in pages`, async () => {
    const expected = flags.filter(matches);
    assert.equal(expected.length, count);
    assert.deepEqual((await shared.admin("GET", `/flags?${query}`)).body, expected);
    const pages = await follow(shared.admin, `/flags?limit=1&${query}`);
    assert.deepEqual(
      pages.flat(),
      expected.map(({ key }) => key),
    );
    assert.equal(pages.length, Math.max(1, count));
  });
}

const bad: readonly (readonly [query: string, field: string])[] = [
  ...["0", "1001", "-1", "1.5", "abc", "", "1&limit=2", "Infinity"].map(
    (value) => [`limit=${value}`, "limit"] as const,
  ),
  ...[
    "",
    "*",
    "%00",
    "LWE",
    "YSBi",
    "a",
    "YQ==",
    "!YQ",
    "YQ%20",
    "x".repeat(600),
    "YQ&cursor=YQ",
  ].map((value) => [`cursor=${value}`, "cursor"] as const),
  ...["Boolean", "string", "", "boolean&type=rollout"].map(
    (value) => [`type=${value}`, "type"] as const,
  ),
  ...["1", "0", "yes", "TRUE", "", "null"].map((value) => [`enabled=${value}`, "enabled"] as const),
  [`q=${"x".repeat(201)}`, "q"],
  ["q=a&q=b", "q"],
  ["page=2", "page"],
  ["Limit=2", "Limit"],
  ["limit=2&sort=key", "sort"],
  ["toString=1", "toString"],
];
for (const [query, field] of bad) {
  test(`GET /flags?${query.slice(0, 30)} is refused with 400 that names ${field}`, async () => {
    const answer = await shared.admin("GET", `/flags?${query}`);
    assertRefused(answer, 400, field);
    const { details } = answer.body as { details: { field: string }[] };
    assert.deepEqual(
      details.map((detail) => detail.field),
      [field],
    );
  });
}

test("an unknown parameter is refused on every path of flags, and nothing happens", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  assertRefused(await admin("GET", "/flags/f?x=1"), 400, "x");
  assertRefused(await admin("GET", "/flags/f/history?x=1"), 400, "x");
  assertRefused(await admin("POST", "/flags?x=1", { key: "g", type: "boolean" }), 400, "x");
  assertRefused(await admin("PATCH", "/flags/f?x=1", { enabled: true }), 400, "x");
  assertRefused(await admin("DELETE", "/flags/f?x=1"), 400, "x");
  assert.deepEqual((await admin("GET", "/flags")).body, [
    { key: "f", type: "boolean", enabled: false, description: null },
  ]);
});

const tagOf = (answer: Answer): string => answer.headers.get("etag") ?? "";

test("GET /flags sends the environment's revision as ETag, and 304 without a body to who has it", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  const tag = tagOf(await admin("GET", "/flags"));
  assert.match(tag, /^"\d+"$/);
  const matching = [tag, `W/${tag}`, `"x", ${tag}`, `"x",W/${tag} , "y"`, "*"];
  for (const path of ["/flags", "/flags?limit=1", "/flags?type=rollout&q=x"]) {
    for (const header of matching) {
      const answer = await admin("GET", path, undefined, { "if-none-match": header });
      assert.deepEqual([answer.status, answer.text, tagOf(answer)], [304, "", tag]);
    }
    for (const header of ['"x"', '""', tag.replaceAll('"', ""), `"x${tag.slice(1)}`, "W/*", ""]) {
      const answer = await admin("GET", path, undefined, { "if-none-match": header });
      assert.deepEqual([answer.status, tagOf(answer)], [200, tag]);
    }
  }
});

test("the ETag of the list changes with every change of a flag, and with nothing else", async () => {
  const { admin } = await server.environment();
  const other = await server.environment();
  const seen = [tagOf(await admin("GET", "/flags"))];
  const changes = [
    ["POST", "/flags", { key: "f", type: "rollout" }],
    ["PATCH", "/flags/f", { enabled: true }],
    ["PATCH", "/flags/f", { enabled: false, percentage: 1, description: "x" }],
    ["DELETE", "/flags/f", undefined],
    ["POST", "/flags", { key: "f", type: "rollout" }],
  ] as const;
  for (const [method, path, body] of changes) {
    assert.ok((await admin(method, path, body)).status < 300);
    const stale = { "if-none-match": seen.join(", ") };
    const changed = await admin("GET", "/flags", undefined, stale);
    assert.equal(changed.status, 200, `${method} did not change the revision`);
    seen.push(tagOf(changed));
  }
  assert.equal(new Set(seen).size, changes.length + 1);

  await admin("PATCH", "/flags/f", {});
  await admin("PATCH", "/flags/f", { enabled: false });
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await admin("POST", "/webhooks", { url: "http://127.0.0.1:9/hook", events: ["*"] });
  await other.admin("POST", "/flags", { key: "g", type: "boolean" });
  const same = await admin("GET", "/flags", undefined, { "if-none-match": seen.at(-1) ?? "" });
  assert.equal(same.status, 304);
});

test("answers that depend on the key say so to caches", async () => {
  for (const path of ["/flags", "/flags/a"]) {
    const { headers } = await shared.admin("GET", path);
    assert.match(headers.get("cache-control") ?? "", /private/);
    assert.match(headers.get("vary") ?? "", /authorization/i);
    assert.match(headers.get("vary") ?? "", /x-api-key/i);
  }
});
