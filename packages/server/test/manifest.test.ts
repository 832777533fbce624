// The OpenFeature manifest API: what it shows of flags, what it makes and changes, and how it refuses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer, Api } from "./support/api.ts";
import { limitTo, sampledEnvironment } from "./support/preview.ts";
import { protectedEnvironment } from "./support/protected.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ HALYARD_RATE_LIMIT: "0" });
});
after(() => server.close());

const base = "//openfeature/v0/manifest";

const manifestOf = async (api: Api): Promise<readonly Record<string, unknown>[]> => {
  const answer = await api("GET", base);
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as { flags: Record<string, unknown>[] }).flags;
};
const push = (api: Api, entry: object): Promise<Answer> => api("POST", `${base}/flags`, entry);
const put = (api: Api, key: string, entry: object): Promise<Answer> =>
  api("PUT", `${base}/flags/${key}`, { key, ...entry });
const flagOf = async (api: Api, key: string) =>
  (await api("GET", `/flags/${key}`)).body as Record<string, unknown>;

/** Refused in the body of the standard. Returns the fields it is about. */
const refused = (answer: Answer, status: number, words: RegExp): readonly string[] => {
  assert.equal(answer.status, status, answer.text);
  const { error, ...rest } = answer.body as {
    error: { message: string; status: number; details?: { field: string; message: string }[] };
  };
  assert.deepEqual(rest, {});
  assert.equal(error.status, status);
  assert.match(error.message, words);
  return (error.details ?? []).map(({ field }) => field);
};

test("the manifest has every flag with its type and its off value", async () => {
  const { admin, server: reader } = await server.environment();
  const variant = (key: string, valueType: string, a: unknown, b: unknown) =>
    admin("POST", "/flags", {
      ...{ key, type: "variant", valueType, variants: { a, b }, off: "b", otherwise: "a" },
    });
  await admin("POST", "/flags", { key: "on", type: "boolean", description: "On or off" });
  await admin("PATCH", "/flags/on", { enabled: true });
  await admin("POST", "/flags", { key: "share", type: "rollout", percentage: 10 });
  await variant("text", "string", "A", "B");
  await variant("whole", "number", 1, -2);
  await variant("fraction", "number", 0.5, 2);
  await variant("settings", "object", { size: 1 }, {});
  const none = { description: null };
  assert.deepEqual(await manifestOf(reader), [
    { key: "fraction", type: "float", defaultValue: 2, ...none },
    { key: "on", type: "boolean", defaultValue: false, description: "On or off" },
    { key: "settings", type: "object", defaultValue: {}, ...none },
    { key: "share", type: "boolean", defaultValue: false, ...none },
    { key: "text", type: "string", defaultValue: "B", ...none },
    { key: "whole", type: "integer", defaultValue: -2, ...none },
  ]);
});

test("the answers tell what the key may do", async () => {
  const { admin, server: reader } = await server.environment();
  const told = ({ headers }: Answer) => headers.get("x-manifest-capabilities");
  assert.equal(told(await reader("GET", base)), "read");
  assert.equal(told(await admin("GET", base)), "read,write,delete");
  const boolean = { key: "a", type: "boolean", defaultValue: false };
  for (const answer of [
    await push(admin, boolean),
    await put(admin, "a", { type: "boolean", description: "A" }),
    await admin("DELETE", `${base}/flags/a`),
  ]) {
    assert.equal(told(answer), "read,write,delete");
  }
});

test("a pushed flag is off and gives its default value; what is pushed comes back", async () => {
  const { admin } = await server.environment();
  const entries = [
    { key: "a", type: "boolean", description: "Yes or no", defaultValue: false },
    { key: "b", type: "string", description: null, defaultValue: "" },
    { key: "c", type: "integer", description: null, defaultValue: 7 },
    { key: "d", type: "float", description: null, defaultValue: 0.25 },
    { key: "e", type: "object", description: null, defaultValue: { a: [1, { b: null }] } },
  ];
  for (const entry of entries) {
    const answer = await push(admin, entry);
    assert.equal(answer.status, 201, answer.text);
    const { flag, updatedAt } = answer.body as { flag: object; updatedAt: string };
    assert.deepEqual(flag, entry);
    const [last] = (await admin("GET", `/flags/${entry.key}/history`)).body as {
      createdAt: string;
    }[];
    assert.equal(updatedAt, last?.createdAt);
  }
  assert.deepEqual(await manifestOf(admin), entries);
  assert.deepEqual(await flagOf(admin, "c"), {
    ...{ key: "c", type: "variant", enabled: false, valueType: "number" },
    ...{ variants: { default: 7 }, off: "default", otherwise: "default", description: null },
  });
  assert.equal((await push(admin, { ...entries[1], key: "f", name: "f" })).status, 201);
});

test("a replacement changes the description and the off value, and nothing else", async () => {
  const { admin } = await server.environment();
  await push(admin, { key: "a", type: "string", description: "Old", defaultValue: "x" });
  const changed = await put(admin, "a", { type: "string", description: "New", defaultValue: "y" });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual((await flagOf(admin, "a")).variants, { default: "y" });
  assert.equal((await flagOf(admin, "a")).description, "New");

  // As the command line sends an empty description.
  await put(admin, "a", { type: "string" });
  assert.equal((await flagOf(admin, "a")).description, null);
  assert.deepEqual((await flagOf(admin, "a")).variants, { default: "y" });

  const before = (await admin("GET", "/flags/a")).headers.get("etag");
  const same = await put(admin, "a", { type: "string", defaultValue: "y" });
  assert.equal(same.status, 200);
  assert.equal((await admin("GET", "/flags/a")).headers.get("etag"), before);
  const [last] = (await admin("GET", "/flags/a/history")).body as { createdAt: string }[];
  assert.equal((same.body as { updatedAt: string }).updatedAt, last?.createdAt);
});

test("a new default value never changes what a flag serves while it is on", async () => {
  const { admin } = await server.environment();
  const flag = {
    ...{ key: "size", type: "variant", valueType: "string", off: "none" },
    ...{ variants: { none: "", small: "S", large: "L" }, otherwise: "small" },
  };
  await admin("POST", "/flags", flag);
  const replace = (defaultValue: string) => put(admin, "size", { type: "string", defaultValue });
  // Nobody is served "none" while it is on.
  assert.equal((await replace("-")).status, 200);
  assert.deepEqual((await flagOf(admin, "size")).variants, { none: "-", small: "S", large: "L" });
  // The value of another variant: that one.
  assert.equal((await replace("S")).status, 200);
  const now = await flagOf(admin, "size");
  assert.deepEqual([now.off, now.variants], ["small", { none: "-", small: "S", large: "L" }]);
  assert.deepEqual(refused(await replace("M"), 409, /"small".*otherwise/), ["defaultValue"]);
  assert.deepEqual(await flagOf(admin, "size"), now);
});

test("of replacements at the same time each is made whole or refused as a conflict", async () => {
  const { admin } = await server.environment();
  await push(admin, { key: "a", type: "integer", defaultValue: 0 });
  // The connections are open then, and the replacements arrive together.
  await Promise.all(Array.from({ length: 12 }, () => manifestOf(admin)));
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      put(admin, "a", { type: "integer", description: `${index + 1}`, defaultValue: index + 1 }),
    ),
  );
  const made = answers.filter(({ status }) => status === 200);
  assert.ok(made.length > 0);
  for (const answer of answers) if (answer.status !== 200) refused(answer, 409, /same time/);
  const { defaultValue, description } = (await manifestOf(admin))[0] ?? {};
  assert.equal(description, String(defaultValue));
});

test("what Halyard cannot say is 409, with the reason and the field", async () => {
  const { admin } = await server.environment();
  const cannotMake: [object, RegExp, string][] = [
    [
      { key: "a", type: "boolean", defaultValue: true },
      /gives false while it is off/,
      "defaultValue",
    ],
    [{ key: "a", type: "float", defaultValue: 1 }, /integer and not float/, "type"],
    [{ key: "a", type: "string", defaultValue: "", name: "Mine" }, /no name/, "name"],
  ];
  for (const [entry, words, field] of cannotMake) {
    assert.deepEqual(refused(await push(admin, entry), 409, words), [field]);
  }
  assert.deepEqual(await manifestOf(admin), []);

  await push(admin, { key: "a", type: "integer", defaultValue: 1 });
  await push(admin, { key: "b", type: "float", defaultValue: 1.5 });
  await push(admin, { key: "c", type: "boolean", defaultValue: false });
  const before = await manifestOf(admin);
  const cannotChange: [string, object, RegExp, string][] = [
    ["a", { type: "string", defaultValue: "1" }, /from integer to string/, "type"],
    ["a", { type: "float", defaultValue: 1.5 }, /integer and not float/, "type"],
    ["b", { type: "integer", defaultValue: 1 }, /from float to integer/, "type"],
    ["b", { type: "float", defaultValue: 2 }, /integer and not float/, "type"],
    ["c", { type: "boolean", defaultValue: true }, /gives false/, "defaultValue"],
    ["c", { type: "boolean", name: "Mine" }, /no name/, "name"],
  ];
  for (const [key, entry, words, field] of cannotChange) {
    assert.deepEqual(refused(await put(admin, key, entry), 409, words), [field]);
  }
  refused(await push(admin, { key: "a", type: "integer", defaultValue: 1 }), 409, /already exists/);
  assert.deepEqual(await manifestOf(admin), before);
});

test("whatever is refused is refused in the standard's body", async () => {
  const { admin, client, server: reader } = await server.environment();
  await push(admin, { key: "a", type: "string", defaultValue: "" });
  const good = { key: "b", type: "boolean", defaultValue: false };
  refused(await server.anonymous("GET", base), 401, /API key/);
  refused(await client("GET", base), 403, /server/);
  refused(await push(reader, good), 403, /editor/);
  refused(await reader("DELETE", `${base}/flags/a`), 403, /editor/);
  refused(await admin("GET", `${base}/nothing`), 404, /does not exist/);
  refused(await put(admin, "b", { type: "boolean" }), 404, /"b" does not exist/);
  refused(await admin("DELETE", `${base}/flags/b`), 404, /"b" does not exist/);
  refused(await admin("PATCH", `${base}/flags/a`, {}), 405, /DELETE, PUT/);
  refused(await admin("POST", `${base}/flags`, "{"), 400, /JSON/);
  refused(
    await admin("POST", `${base}/flags`, good, { "content-type": "text/plain" }),
    415,
    /JSON/,
  );
  refused(await push(admin, { ...good, description: "a".repeat(300_000) }), 413, /256 KiB/);
  refused(await admin("GET", `${base}/flags/%zz`), 400, /path/);
  const wrong: [object, readonly string[]][] = [
    [{ key: "b" }, ["type", "defaultValue"]],
    [{ ...good, key: "no spaces" }, ["key"]],
    [{ ...good, type: "number" }, ["type"]],
    [{ ...good, defaultValue: null }, ["defaultValue"]],
    [{ ...good, defaultValue: [] }, ["defaultValue"]],
    [{ ...good, defaultValue: "false" }, ["defaultValue"]],
    [{ ...good, type: "integer", defaultValue: 1.5 }, ["defaultValue"]],
    [{ ...good, description: "a".repeat(2_001) }, ["description"]],
    [{ ...good, tags: [] }, ["tags"]],
  ];
  for (const [entry, fields] of wrong) {
    const told = refused(await push(admin, entry), 400, /./);
    assert.deepEqual(told.toSorted(), fields.toSorted());
  }
  const other = await admin("PUT", `${base}/flags/a`, { key: "c", type: "string" });
  assert.deepEqual(refused(other, 400, /the key in the path/), ["key"]);
  assert.equal((await manifestOf(admin)).length, 1);
});

test("a deleted flag is gone, and its key can be pushed again", async () => {
  const { admin } = await server.environment();
  const entry = { key: "a", type: "boolean", defaultValue: false };
  await push(admin, entry);
  await admin("POST", "/flags", {
    ...{ key: "b", type: "boolean", requires: [{ flag: "a", variant: "on" }] },
  });
  refused(await admin("DELETE", `${base}/flags/a`), 409, /"b"/);
  await admin("DELETE", "/flags/b");
  const removed = await admin("DELETE", `${base}/flags/a?reason=Not%20used`);
  assert.deepEqual(removed.body, { message: 'The flag "a" was deleted.', archivedAt: null });
  assert.deepEqual(await manifestOf(admin), []);
  const [last] = (await admin("GET", "/flags/a/history")).body as { reason: string }[];
  assert.equal(last?.reason, "Not used");
  assert.equal((await push(admin, entry)).status, 201);
});

test("a protected environment gets a change request, and the answer is 409", async () => {
  const { newKey } = await protectedEnvironment(server);
  const editor = server.api(await newKey("editor"));
  const entry = { key: "a", type: "boolean", defaultValue: false };
  const before = await manifestOf(editor);
  refused(await push(editor, entry), 409, /proposed as cr_/);
  refused(await put(editor, "checkout", { type: "boolean", description: "A" }), 409, /proposed/);
  refused(await editor("DELETE", `${base}/flags/checkout`), 409, /proposed/);
  assert.deepEqual(await manifestOf(editor), before);
  const { requests } = (await editor("GET", "/change-requests")).body as { requests: unknown[] };
  assert.equal(requests.length, 3);
});

test("the limit on flips holds, and can be confirmed", async () => {
  const { name, admin, owner } = await sampledEnvironment(server);
  await limitTo(owner, name, 5);
  const path = `${base}/flags/checkout`;
  refused(await admin("DELETE", path), 409, /confirmFlips/);
  assert.equal((await admin("DELETE", `${path}?confirmFlips=100`)).status, 200);
});
