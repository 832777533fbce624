// An environment as it was, over real HTTP: by time and by revision, also what was deleted since.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer, Api } from "./support/api.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

/** Later than the environments, which are made by the real time. */
let now = Date.now() + 3_600_000;
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: () => new Date(now) });
});
after(() => server.close());

const done = async (api: Api, method: string, path: string, body?: unknown): Promise<Answer> => {
  const answer = await api(method, path, body);
  assert.ok(answer.status < 300, answer.text);
  return answer;
};
const timeText = (time: number) => new Date(time).toISOString();
const keysIn = ({ body, text }: Answer): string => {
  assert.ok(Array.isArray(body), text);
  return (body as { key: string }[]).map(({ key }) => key).join(" ");
};

test("a time names the last change made then; two may be in one millisecond, and the clock may go back", async () => {
  const { admin } = await server.environment();
  const create = (key: string) => done(admin, "POST", "/flags", { key, type: "boolean" });
  const begun = now;
  await create("a");
  now += 1_000;
  await create("b");
  await create("c");
  now -= 600_000;
  await create("d");
  now += 601_000;
  await create("e");
  const end = now;
  for (const [time, keys, revision] of [
    [begun - 1, "", 0],
    [begun, "a", 1],
    [begun + 999, "a", 1],
    // The change at which the clock had gone back counts as made at the time of the one before.
    [begun + 1_000, "a b c d", 4],
    [end - 1, "a b c d", 4],
    [end, "a b c d e", 5],
    [end + 86_400_000, "a b c d e", 5],
  ] as const) {
    const answer = await admin("GET", `/flags?at=${timeText(time)}`);
    assert.equal(keysIn(answer), keys, timeText(time));
    assert.equal(answer.headers.get("x-halyard-revision"), String(revision));
    assert.equal(answer.headers.get("etag"), `"${revision}"`);
  }
  assert.equal(keysIn(await admin("GET", "/flags?revision=2")), "a b", "between the two");
  const early = await admin("GET", "/flags?at=2020-01-01");
  assert.equal(early.status, 409);
  assert.match(early.text, /was not there yet at 2020-01-01T00:00:00\.000Z/);
  const entries = (await admin("GET", "/history?subject=flag")).body as { revision: number }[];
  assert.deepEqual(
    entries.map(({ revision }) => revision),
    [5, 4, 3, 2, 1],
  );
});

test("flags and segments are as they were, whatever became of them", async () => {
  const { admin, server: reader } = await server.environment();
  await done(admin, "POST", "/segments", { key: "beta", include: ["ann", "bob"] });
  const rules = [{ id: "beta", when: { segment: ["beta"] }, serve: "on" }];
  const flag = { key: "a", type: "boolean", rules, otherwise: "off", tags: ["shop"] };
  await done(admin, "POST", "/flags", flag);
  await done(admin, "POST", "/flags", { key: "b", type: "rollout", percentage: 25 });
  const revision = 3;
  const paths = ["/flags", "/flags/a", "/flags/b", "/segments", "/segments/beta", "/snapshot"];
  const read = async (query = "") => {
    const answers = await Promise.all(paths.map((path) => reader("GET", path + query)));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    return answers;
  };
  const then = await read();

  const members = (include: object) => done(admin, "POST", "/segments/beta/members", { include });
  await members({ add: ["cid"], remove: ["ann"] });
  await done(admin, "PATCH", "/segments/beta", { include: ["dan"], exclude: ["bob"] });
  await done(admin, "PATCH", "/flags/a", { enabled: true, rules: [], tags: [] });
  await done(admin, "DELETE", "/segments/beta");
  await done(admin, "DELETE", "/flags/b");
  await done(admin, "POST", "/segments", { key: "beta", include: ["eve"] });
  await done(admin, "POST", "/flags", { key: "b", type: "boolean" });
  await done(admin, "POST", "/flags", { key: "c", type: "boolean" });
  await done(admin, "DELETE", "/flags/a");
  const past = await read(`?revision=${revision}`);
  for (const [index, path] of paths.entries()) {
    assert.deepEqual(past[index]?.body, then[index]?.body, path);
    assert.equal(past[index]?.headers.get("etag"), then[index]?.headers.get("etag"), path);
    assert.equal(past[index]?.headers.get("x-halyard-revision"), String(revision), path);
  }
  // In between, with the members that were there.
  for (const [at, include, exclude] of [
    [4, ["bob", "cid"], []],
    [5, ["dan"], ["bob"]],
    [9, ["eve"], []],
  ] as const) {
    const { body } = await reader("GET", `/segments/beta?revision=${at}`);
    assert.deepEqual(body, { key: "beta", description: null, include, exclude, when: null });
  }
  assert.equal((await reader("GET", "/segments/beta?revision=7")).status, 404);
  const gone = await reader("GET", "/flags/b?revision=8");
  assert.match(gone.text, /At revision 8, the flag \\"b\\" does not exist/);

  // With the filters and pages of every list.
  assert.equal(keysIn(await reader("GET", "/flags?revision=3&tag=shop")), "a");
  assert.equal(keysIn(await reader("GET", "/flags?revision=3&type=rollout&q=B")), "b");
  const page = await reader("GET", "/flags?revision=3&limit=1");
  assert.equal(keysIn(page), "a");
  const next = /<\/api\/v1([^>]*)>/.exec(page.headers.get("link") ?? "")?.[1] ?? "";
  assert.equal(keysIn(await reader("GET", next)), "b");
  const tag = then[0]?.headers.get("etag") ?? "";
  const fresh = await reader("GET", "/flags?revision=3", undefined, { "if-none-match": tag });
  assert.equal(fresh.status, 304);

  for (const [query, said] of [
    ["revision=99", /revision must be at most 12, the revision of now/],
    ["revision=-1", /revision must be a revision of the environment/],
    ["at=yesterday", /at must be a time such as/],
    ["at=2026-11-14T12:00:00", /at must be a time such as/],
    ["at=2026-11-14&revision=1", /revision must not be given together with at/],
  ] as const) {
    for (const path of paths) {
      const refused = await reader("GET", `${path}?${query}`);
      assert.equal(refused.status, 400, `${path} ${query}`);
      assert.match(refused.text, said);
    }
  }
});

test("a segment is told through any number of changes, a page of them at a time", async () => {
  const { admin } = await server.environment();
  await done(admin, "POST", "/segments", { key: "many", include: ["first"] });
  const long = (begin: number) =>
    Array.from({ length: 500 }, (_, index) => `user-${begin + index}-${"x".repeat(200)}`);
  // More than a page of history has in bytes.
  for (let index = 0; index < 45; index += 1) {
    const [added, removed] = [long(index * 500), long((index - 1) * 500)];
    const include = { add: added, ...(index > 0 && { remove: removed }) };
    await done(admin, "POST", "/segments/many/members", { include });
  }
  const sizes = async (revision: number) =>
    (await admin("GET", `/segments?revision=${revision}`)).body as { counts: object }[];
  assert.deepEqual((await sizes(1))[0]?.counts, { include: 1, exclude: 0 });
  assert.deepEqual((await sizes(20))[0]?.counts, { include: 501, exclude: 0 });
  const whole = async (revision: number) =>
    ((await admin("GET", `/segments/many?revision=${revision}`)).body as { include: string[] })
      .include;
  assert.deepEqual(await whole(1), ["first"]);
  assert.deepEqual(await whole(20), ["first", ...long(9_000)].sort());
});
