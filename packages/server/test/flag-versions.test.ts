// A flag's version over real HTTP: the ETag of every answer, If-Match, If-None-Match, and writers that race.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { readCounters } from "./support/database.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const tagOf = (answer: Answer): string | null => answer.headers.get("etag");

/** An environment with the flag `f` at version 3. */
const withFlag = async (): Promise<TestEnvironment> => {
  const environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "f", type: "rollout" });
  await environment.admin("PATCH", "/flags/f", { enabled: true });
  const patched = await environment.admin("PATCH", "/flags/f", { percentage: 20 });
  assert.equal(tagOf(patched), '"3"');
  return environment;
};
const current = { key: "f", type: "rollout", enabled: true, percentage: 20, description: null };

test("every answer with a flag carries its version as ETag, counted up by each change", async () => {
  const { admin } = await server.environment();
  const tags = [
    await admin("POST", "/flags", { key: "f", type: "rollout" }),
    await admin("GET", "/flags/f"),
    await admin("PATCH", "/flags/f", { enabled: true }),
    await admin("GET", "/flags/f"),
    await admin("PATCH", "/flags/f", { enabled: false, percentage: 5, description: "x" }),
    await admin("PATCH", "/flags/f", {}),
    await admin("PATCH", "/flags/f", { percentage: 5 }),
    await admin("GET", "/flags/f"),
  ].map(tagOf);
  assert.deepEqual(tags, ['"1"', '"1"', '"2"', '"2"', '"3"', '"3"', '"3"', '"3"']);
});

test("versions of different flags are counted on their own", async () => {
  const { admin } = await withFlag();
  assert.equal(tagOf(await admin("POST", "/flags", { key: "g", type: "boolean" })), '"1"');
  assert.equal(tagOf(await admin("PATCH", "/flags/g", { enabled: true })), '"2"');
  assert.equal(tagOf(await admin("GET", "/flags/f")), '"3"');
});

test("the version goes on when a flag is deleted and made again, so that no old ETag fits", async () => {
  const { admin } = await withFlag();
  await admin("DELETE", "/flags/f");
  const again = await admin("POST", "/flags", { key: "f", type: "rollout" });
  assert.equal(again.status, 201);
  assert.equal(tagOf(again), '"5"');
  for (const version of [1, 2, 3, 4]) {
    const stale = await admin(
      "PATCH",
      "/flags/f",
      { enabled: true },
      { "if-match": `"${version}"` },
    );
    assertRefused(stale, 412);
  }
  await admin("DELETE", "/flags/f");
  assert.equal(tagOf(await admin("POST", "/flags", { key: "f", type: "boolean" })), '"7"');
});

const matching = ['"3"', ' "3" ', "*", " * ", '"1", "3"', '"3","9"', 'W/"3", "3"', '"x", "3",'];
for (const header of matching) {
  test(`If-Match: ${header} holds for version 3, on PATCH and on DELETE`, async () => {
    const { admin } = await withFlag();
    const patched = await admin("PATCH", "/flags/f", { percentage: 20 }, { "if-match": header });
    assert.deepEqual([patched.status, patched.body, tagOf(patched)], [200, current, '"3"']);
    const removed = await admin("DELETE", "/flags/f", undefined, { "if-match": header });
    assert.equal(removed.status, 204);
  });
}

const notMatching = ['"2"', '"4"', '"03"', '"3."', '""', 'W/"3"', '"1", "2"', 'W/"3", "2"'];
for (const header of notMatching) {
  test(`If-Match: ${header} does not hold for version 3: 412 with the flag as it is`, async () => {
    const { admin, name } = await withFlag();
    const earlier = await readCounters(server, name);
    const refusals = [
      await admin("PATCH", "/flags/f", { percentage: 90 }, { "if-match": header }),
      await admin("PATCH", "/flags/f", {}, { "if-match": header }),
      await admin("DELETE", "/flags/f", undefined, { "if-match": header }),
    ];
    for (const refused of refusals) {
      assertRefused(refused, 412, '"f"', "version 3");
      assert.deepEqual((refused.body as { current: unknown }).current, current);
      assert.equal(tagOf(refused), '"3"');
    }
    assert.deepEqual(await readCounters(server, name), earlier);
    assert.deepEqual((await admin("GET", "/flags/f")).body, current);
  });
}

const malformed = [
  "3",
  '"3',
  '3"',
  '"3" "4"',
  "w/3",
  'w/"3"',
  '"3", *',
  '*, "3"',
  "**",
  "",
  '"3";',
  "'3'",
  '"a b"',
];
for (const header of malformed) {
  test(`If-Match: ${header} cannot be read and is refused with 400, never passed over`, async () => {
    const { admin, name } = await withFlag();
    const earlier = await readCounters(server, name);
    const headers = { "if-match": header };
    assertRefused(await admin("PATCH", "/flags/f", { percentage: 1 }, headers), 400, "If-Match");
    assertRefused(await admin("DELETE", "/flags/f", undefined, headers), 400, "If-Match");
    assert.deepEqual(await readCounters(server, name), earlier);
  });
}

test("a missing flag is 404 whatever If-Match says", async () => {
  const { admin } = await withFlag();
  for (const header of ["*", '"1"']) {
    const headers = { "if-match": header };
    assertRefused(await admin("PATCH", "/flags/none", { enabled: true }, headers), 404, '"none"');
    assertRefused(await admin("DELETE", "/flags/none", undefined, headers), 404, '"none"');
  }
});

test("the ETag and the body of a 412 are enough to try again", async () => {
  const { admin } = await withFlag();
  const refused = await admin("PATCH", "/flags/f", { percentage: 21 }, { "if-match": '"1"' });
  const tag = tagOf(refused) ?? "";
  const patched = await admin("PATCH", "/flags/f", { percentage: 21 }, { "if-match": tag });
  assert.deepEqual([patched.status, patched.body], [200, { ...current, percentage: 21 }]);
  assert.equal(tagOf(patched), '"4"');
});

test("GET of one flag answers 304 without a body to who has its version", async () => {
  const { admin, server: reader } = await withFlag();
  for (const header of ['"3"', 'W/"3"', '"1", "3"', '"x",W/"3"', "*"]) {
    const same = await reader("GET", "/flags/f", undefined, { "if-none-match": header });
    assert.deepEqual([same.status, same.text, tagOf(same)], [304, "", '"3"']);
  }
  for (const header of ['"2"', '"33"', "3", "W/*", ""]) {
    const other = await reader("GET", "/flags/f", undefined, { "if-none-match": header });
    assert.deepEqual([other.status, other.body], [200, current]);
  }
  await admin("PATCH", "/flags/f", { percentage: 30 });
  const changed = await admin("GET", "/flags/f", undefined, { "if-none-match": '"3"' });
  assert.deepEqual([changed.status, tagOf(changed)], [200, '"4"']);
  await admin("DELETE", "/flags/f");
  const gone = await admin("GET", "/flags/f", undefined, { "if-none-match": "*" });
  assertRefused(gone, 404, '"f"');
});

/** Not more: on a busy machine the last would wait too long for PostgreSQL. */
const twelve = Array.from({ length: 12 }, (_, index) => index);
const countBy = (answers: readonly Answer[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test("of 12 who create one key at once, one makes it and 11 get 409", async () => {
  const { admin, name } = await server.environment();
  const answers = await Promise.all(
    twelve.map((index) =>
      admin("POST", "/flags", { key: "race", type: "boolean", description: `${index}` }),
    ),
  );
  assert.deepEqual(countBy(answers), { 201: 1, 409: 11 });
  const winner = answers.find(({ status }) => status === 201);
  assert.deepEqual((await admin("GET", "/flags")).body, [winner?.body]);
  const counters = { revision: 1, sequence: 1, flags: 1, events: 1, entries: 1 };
  assert.deepEqual(await readCounters(server, name), counters);
});

test("of 12 who change one version at once, one changes it and 11 get 412 with what it became", async () => {
  const { admin, name } = await withFlag();
  const earlier = await readCounters(server, name);
  const answers = await Promise.all(
    twelve.map((index) =>
      admin("PATCH", "/flags/f", { percentage: 30 + index }, { "if-match": '"3"' }),
    ),
  );
  assert.deepEqual(countBy(answers), { 200: 1, 412: 11 });
  const winner = answers.find(({ status }) => status === 200);
  for (const lost of answers.filter(({ status }) => status === 412)) {
    assert.deepEqual((lost.body as { current: unknown }).current, winner?.body);
    assert.equal(tagOf(lost), '"4"');
  }
  assert.deepEqual((await admin("GET", "/flags/f")).body, winner?.body);
  assert.equal((await readCounters(server, name)).events, Number(earlier.events) + 1);
});

test("of 12 who delete one flag at once, one deletes it and 11 get 404", async () => {
  const { admin } = await withFlag();
  const answers = await Promise.all(twelve.map(() => admin("DELETE", "/flags/f")));
  assert.deepEqual(countBy(answers), { 204: 1, 404: 11 });
});

test("12 changes of one flag at once without If-Match are all made, one after the other", async () => {
  const { admin, name } = await withFlag();
  const answers = await Promise.all(
    twelve.map((index) => admin("PATCH", "/flags/f", { description: `by ${index}` })),
  );
  assert.deepEqual(countBy(answers), { 200: 12 });
  const versions = answers.map((answer) => Number(tagOf(answer)?.slice(1, -1)));
  assert.deepEqual(
    versions.sort((a, b) => a - b),
    twelve.map((index) => index + 4),
  );
  assert.equal((await readCounters(server, name)).events, 3 + 12);
});
