// The cost of evaluations: rules that take too much work are rejected, and long evaluations don't hold up other requests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readRows, writeRows } from "./support/database.ts";
import { makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Takes a little less than 200,000 steps. */
const contains = Array.from({ length: 140 }, (_, index) => `value-${index}`);
const expensive = (key: string) => ({
  ...{ key, type: "boolean", otherwise: "off" },
  rules: [
    {
      ...{ id: "r", serve: "on" },
      when: {
        any: [
          { attribute: "text", op: "contains", values: contains.slice(0, 70) },
          { attribute: "text", op: "contains", values: contains.slice(70) },
        ],
      },
    },
  ],
});

const workOf = async ({ name }: TestEnvironment): Promise<number> => {
  const rows = await readRows(
    server,
    "select definition_work as work from environments where name = ?",
    name,
  );
  return Number(rows[0]?.work);
};

const fill = async ({ admin }: TestEnvironment): Promise<number> => {
  for (let index = 0; ; index += 1) {
    const made = await admin("POST", "/flags", expensive(`f${index}`));
    if (made.status === 409) {
      assert.match(made.text, /steps to evaluate, more than 2,000,000/);
      return index;
    }
    assert.equal(made.status, 201, made.text);
    assert.equal((await admin("PATCH", `/flags/f${index}`, { enabled: true })).status, 200);
  }
};

test("an environment rejects rules over its limit, and accepts rules again once others are removed", async () => {
  const environment = await server.environment();
  const { admin } = environment;
  const count = await fill(environment);
  assert.equal(count, 9);
  const full = await workOf(environment);
  assert.ok(full <= 2_000_000 && full > 1_700_000, String(full));
  const other = await admin("POST", "/flags", { key: "plain", type: "rollout", percentage: 10 });
  assert.equal(other.status, 201);
  const when = expensive("s").rules[0]?.when;
  assert.equal((await admin("POST", "/segments", { key: "s", when })).status, 409);
  assert.equal((await admin("DELETE", "/flags/f0")).status, 204);
  assert.equal((await admin("POST", "/segments", { key: "s", when })).status, 201);
  assert.equal((await admin("DELETE", "/segments/s")).status, 204);
  const [f1, ...rest] = Array.from({ length: count - 1 }, (_, index) => `f${index + 1}`);
  const patched = await admin("PATCH", `/flags/${f1}`, { rules: null });
  assert.equal(patched.status, 200, patched.text);
  for (const key of rest) await admin("DELETE", `/flags/${key}`);
  assert.equal(await workOf(environment), 0);
});

test("other environments get responses while an evaluation of all flags still runs", async () => {
  const environment = await server.environment();
  const { client } = environment;
  const count = await fill(environment);
  const other = await server.environment();
  await makeFlag(other.admin, { key: "plain", type: "boolean", enabled: true });
  // Nearly matches everywhere, so that each search takes long.
  const context = { targetingKey: "u", text: "value-x".repeat(146) };
  const done: string[] = [];
  const all = Array.from({ length: 60 }, async () => {
    const answer = await client("POST", "//ofrep/v1/evaluate/flags", { context });
    done.push("all");
    return answer;
  });
  for (let index = 0; index < 4; index += 1) {
    const one = await other.client("POST", "//ofrep/v1/evaluate/flags/plain", { context });
    assert.equal(one.status, 200);
    done.push("one");
  }
  for (const answer of await Promise.all(all)) {
    assert.equal(answer.status, 200, answer.text);
    const { flags } = answer.body as { readonly flags: readonly { readonly variant: string }[] };
    assert.equal(flags.filter(({ variant }) => variant === "off").length, count);
  }
  assert.ok(done.indexOf("one") < done.lastIndexOf("all"), done.join(" "));
});

test("an environment from before the limit is evaluated as before, and its changes in between are seen", async () => {
  const environment = await server.environment();
  const { admin, client, name } = environment;
  await fill(environment);
  await writeRows(server, "update environments set definition_work = 0 where name = ?", name);
  const below = { requires: [{ flag: "f0", variant: "off" }] };
  const when = { attribute: "plan", op: "in", values: ["pro"] };
  await admin("POST", "/segments", { key: "pro", when });
  const made = await admin("POST", "/flags", {
    ...{ key: "above", type: "boolean", otherwise: "off", ...below },
    rules: [{ id: "r", when: { segment: ["pro"] }, serve: "on" }],
  });
  assert.equal(made.status, 201, made.text);
  await admin("PATCH", "/flags/above", { enabled: true });
  const context = { targetingKey: "u", text: "a".repeat(1_024), plan: "pro" };
  const all = () => client("POST", "//ofrep/v1/evaluate/flags", { context });
  const valueIn = ({ body }: Awaited<ReturnType<typeof all>>) => {
    const { flags } = body as { readonly flags: readonly { key: string; value: unknown }[] };
    return flags.find(({ key }) => key === "above")?.value;
  };
  assert.equal(valueIn(await all()), true);
  const [first, , second] = await Promise.all([
    all(),
    admin("PATCH", "/flags/above", { enabled: false }),
    all(),
  ]);
  for (const answer of [first, second]) assert.equal(answer?.status, 200);
  assert.equal(valueIn(await all()), false);
  const one = await client("POST", "//ofrep/v1/evaluate/flags/f0", { context });
  assert.deepEqual((one.body as { value: unknown }).value, false);
});

test("a targetingKey of more than 1,024 characters is INVALID_CONTEXT", async () => {
  const { admin, client } = await server.environment();
  await makeFlag(admin, { key: "a", type: "rollout", percentage: 50, enabled: true });
  for (const path of ["", "/a"]) {
    const evaluate = (length: number) =>
      client("POST", `//ofrep/v1/evaluate/flags${path}`, {
        context: { targetingKey: "k".repeat(length) },
      });
    assert.equal((await evaluate(1_024)).status, 200);
    const refused = await evaluate(1_025);
    assert.equal(refused.status, 400);
    assert.equal((refused.body as { errorCode: string }).errorCode, "INVALID_CONTEXT");
  }
});
