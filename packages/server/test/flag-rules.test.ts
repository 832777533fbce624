// What a flag's fields may hold, over real HTTP: keys, percentages, descriptions, and fields that have no place.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { readCounters } from "./support/database.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
let environment: TestEnvironment;
before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "plain", type: "boolean" });
  await environment.admin("POST", "/flags", { key: "rollout", type: "rollout" });
});
after(() => server.close());

const send = (method: string, path: string, body: unknown): Promise<Answer> =>
  environment.admin(method, path, body);

/** Refused with 400, a message that holds the words, and nothing changed by it. */
const refuse = async (
  method: string,
  path: string,
  body: unknown,
  ...words: string[]
): Promise<Answer> => {
  const earlier = await readCounters(server, environment.name);
  const answer = await send(method, path, body);
  assertRefused(answer, 400, ...words);
  assert.deepEqual(await readCounters(server, environment.name), earlier);
  return answer;
};

const fieldsOf = (answer: Answer): string[] =>
  (answer.body as { details: { field: string }[] }).details.map(({ field }) => field).sort();

const goodKeys = [
  "k",
  "7",
  "Z",
  "x".repeat(128),
  "a.b_c-D9",
  "0...",
  "a--",
  "constructor",
  "toString",
];
for (const key of goodKeys) {
  test(`the key ${key.slice(0, 20)} (${key.length}) is allowed and found under its path`, async () => {
    const made = await send("POST", "/flags", { key, type: "boolean" });
    assert.equal(made.status, 201, made.text);
    const found = await environment.admin("GET", `/flags/${key}`);
    assert.deepEqual([found.status, found.body], [200, made.body]);
    assert.equal((await environment.admin("DELETE", `/flags/${key}`)).status, 204);
  });
}

const badKeys: readonly unknown[] = [
  "",
  "x".repeat(129),
  "-a",
  ".a",
  "_a",
  "__proto__",
  "a b",
  " a",
  "a ",
  "a/b",
  "a\n",
  "a\t",
  "ä",
  "flag🚩",
  "a,b",
  "a:b",
  "a%20b",
  5,
  true,
  null,
  ["a"],
  { a: 1 },
];
for (const key of badKeys) {
  test(`the key ${JSON.stringify(key).slice(0, 20)} is refused with the rule`, async () => {
    await refuse("POST", "/flags", { key, type: "boolean" }, "key must be", "1 to 128 characters");
  });
}

const goodPercentages = [
  "0",
  "100",
  "0.001",
  "99.999",
  "0.5",
  "1e-3",
  "1E2",
  "33.333",
  "1.005",
  "64.005",
  "8.195",
  "29.701",
  "57.3000",
];
for (const text of goodPercentages) {
  test(`percentage ${text} is kept as it is, at POST and at PATCH`, async () => {
    const made = await send("POST", "/flags", `{"key":"p","type":"rollout","percentage":${text}}`);
    assert.equal(made.status, 201, made.text);
    const percentage = Number(text);
    assert.equal((made.body as { percentage: number }).percentage, percentage);
    await send("PATCH", "/flags/p", { percentage: 7 });
    const patched = await send("PATCH", "/flags/p", `{"percentage":${text}}`);
    assert.deepEqual([patched.status, patched.body], [200, made.body]);
    assert.deepEqual((await environment.admin("GET", "/flags/p")).body, made.body);
    assert.equal((await environment.admin("DELETE", "/flags/p")).status, 204);
  });
}

const badPercentages = [
  "0.0005",
  "0.0001",
  "0.00000001",
  "1.0005",
  "33.3333",
  "99.9999",
  "99.9999999999",
  "100.001",
  "100.0000001",
  "-0.001",
  "-0.0000001",
  "-1",
  "101",
  "1e400",
  '"50"',
  '""',
  "null",
  "true",
  "[50]",
  "{}",
];
for (const text of badPercentages) {
  test(`percentage ${text} is refused with the rule, at POST and at PATCH`, async () => {
    const rule = "percentage must be a number from 0 to 100 with at most three decimals";
    const post = `{"key":"p","type":"rollout","percentage":${text}}`;
    assert.deepEqual(fieldsOf(await refuse("POST", "/flags", post, rule)), ["percentage"]);
    const patch = `{"percentage":${text}}`;
    assert.deepEqual(fieldsOf(await refuse("PATCH", "/flags/rollout", patch, rule)), [
      "percentage",
    ]);
  });
}

for (const text of ["NaN", "Infinity", "-Infinity", ".5", "+5", "0x10"]) {
  test(`percentage ${text} is not JSON and is refused as such`, async () => {
    await refuse("POST", "/flags", `{"key":"p","type":"rollout","percentage":${text}}`, "JSON");
    await refuse("PATCH", "/flags/rollout", `{"percentage":${text}}`, "JSON");
  });
}

for (const percentage of [0, 50, 100]) {
  test(`percentage ${percentage} on a boolean flag is refused with the reason, at POST and at PATCH`, async () => {
    const why = "percentage applies to flags of type rollout only";
    await refuse("POST", "/flags", { key: "p", type: "boolean", percentage }, why);
    await refuse("PATCH", "/flags/plain", { percentage }, why);
    await refuse("PATCH", "/flags/plain", { enabled: true, percentage }, why);
  });
}

test("PATCH of type or key is refused as fixed at creation, the same value too", async () => {
  for (const patch of [
    { type: "rollout" },
    { type: "boolean" },
    { key: "other" },
    { key: "plain" },
  ]) {
    const [field = ""] = Object.keys(patch);
    const answer = await refuse("PATCH", "/flags/plain", patch, field, "fixed at creation");
    assert.deepEqual(fieldsOf(answer), [field]);
  }
  await refuse("PATCH", "/flags/plain", { enabled: true, key: "x" }, "fixed at creation");
});

test("an unknown field is refused by its name, at POST and at PATCH", async () => {
  const flag = { key: "u", type: "boolean" };
  for (const field of ["enabled", "name", "Key", "constructor", "toString", "", "a.b", "version"]) {
    const posted = await refuse("POST", "/flags", { ...flag, [field]: true }, field);
    assert.deepEqual(fieldsOf(posted), [field]);
  }
  for (const field of ["name", "Enabled", "constructor", "version"]) {
    const patched = await refuse("PATCH", "/flags/plain", { enabled: true, [field]: 1 }, field);
    assert.deepEqual(fieldsOf(patched), [field]);
  }
  const both = await refuse("POST", "/flags", { ...flag, one: 1, two: 2 }, "one", "two");
  assert.deepEqual(fieldsOf(both), ["one", "two"]);
});

test("key and type are required, and every problem of a body is told at once", async () => {
  assert.deepEqual(
    fieldsOf(await refuse("POST", "/flags", { type: "boolean" }, "key is required")),
    ["key"],
  );
  assert.deepEqual(fieldsOf(await refuse("POST", "/flags", { key: "r" }, "type is required")), [
    "type",
  ]);
  assert.deepEqual(fieldsOf(await refuse("POST", "/flags", {})), ["key", "type"]);
  const bad = { key: "", type: "x", description: 1, percentage: "1", z: 0 };
  assert.deepEqual(fieldsOf(await refuse("POST", "/flags", bad)), Object.keys(bad).sort());
});

test("a field of the wrong kind is refused by its name", async () => {
  for (const type of ["Boolean", "string", "", null, 1, ["boolean"]]) {
    await refuse("POST", "/flags", { key: "w", type }, 'type must be "boolean" or "rollout"');
  }
  for (const enabled of ["true", 1, 0, null, [], {}]) {
    await refuse("PATCH", "/flags/plain", { enabled }, "enabled must be true or false");
  }
  for (const description of [5, false, [], {}]) {
    await refuse("POST", "/flags", { key: "w", type: "boolean", description }, "description must");
    await refuse("PATCH", "/flags/plain", { description }, "description must");
  }
});

test("a body that is not one JSON object is refused", async () => {
  for (const body of ["[]", '"x"', "1", "null", "", "{", '{"enabled":true}x']) {
    await refuse("POST", "/flags", body);
    await refuse("PATCH", "/flags/plain", body);
  }
});

test("a description holds 2,000 characters, counted as people count them, and not one more", async () => {
  for (const character of ["x", "ü", "🚩"]) {
    const [longest, longer] = [character.repeat(2_000), character.repeat(2_001)];
    const made = await send("POST", "/flags", { key: "d", type: "boolean", description: longest });
    assert.equal(made.status, 201, made.text.slice(0, 200));
    assert.equal((made.body as { description: string }).description, longest);
    await send("PATCH", "/flags/d", { description: null });
    const patched = await send("PATCH", "/flags/d", { description: longest });
    assert.deepEqual([patched.status, patched.body], [200, made.body]);
    assert.deepEqual((await environment.admin("GET", "/flags/d")).body, made.body);
    const e = { key: "e", type: "boolean", description: longer };
    await refuse("POST", "/flags", e, "description must be", "2,000 characters");
    await refuse("PATCH", "/flags/d", { description: longer }, "description must be");
    assert.equal((await environment.admin("DELETE", "/flags/d")).status, 204);
  }
});

test("a description holds 8,000 bytes of JSON, and not one character more", async () => {
  const [longest, longer] = ["\u0001".repeat(1_333), "\u0001".repeat(1_334)];
  const made = await send("POST", "/flags", { key: "d", type: "boolean", description: longest });
  assert.equal(made.status, 201, made.text.slice(0, 200));
  const e = { key: "e", type: "boolean", description: longer };
  await refuse("POST", "/flags", e, "description must be", "8,000 bytes");
  await refuse("PATCH", "/flags/d", { description: longer }, "description must be", "8,000 bytes");
  assert.equal((await environment.admin("DELETE", "/flags/d")).status, 204);
});

test("a description may be null, empty or any text, and is kept letter by letter", async () => {
  for (const description of [
    null,
    "",
    " ",
    "a\nb\t\"'\\",
    "e\u0301 \u202e 🏳️‍🌈",
    "null",
    "</script>",
  ]) {
    const made = await send("POST", "/flags", { key: "d", type: "rollout", description });
    assert.equal(made.status, 201, made.text);
    assert.equal((made.body as { description: unknown }).description, description);
    assert.deepEqual((await environment.admin("GET", "/flags/d")).body, made.body);
    assert.equal((await environment.admin("DELETE", "/flags/d")).status, 204);
  }
});
