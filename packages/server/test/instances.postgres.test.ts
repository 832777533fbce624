// Several instances on one PostgreSQL database do at the same moment what only one of them may do, or each once.
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig, startServer } from "@halyard/server";
import { type Answer, type Api, createApi } from "./support/api.ts";
import { serveOn } from "./support/halyard-process.ts";
import { newDatabase, query, unhurriedStatements } from "./support/postgres.ts";
import { scrape } from "./support/scrape.ts";
import { unhurried } from "./support/test-store.ts";

const key = "a-key-for-instances-on-postgresql";
const instances: Awaited<ReturnType<typeof startServer>>[] = [];
const operators: Awaited<ReturnType<typeof composeOperator>>[] = [];
let url: string;
let apis: Api[];

before(async () => {
  url = await newDatabase();
  const config = parseConfig({
    PORT: "0",
    HALYARD_LOG_LEVEL: "silent",
    HALYARD_SECRET_KEY: "07".repeat(32),
    HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
    DATABASE_URL: url,
    HALYARD_MAX_LAG: unhurried,
    HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
  });
  // Each is closed at the end, also when another one does not start.
  const start = async () => {
    const instance = await startServer(config);
    instances.push(instance);
    return instance;
  };
  const started = await Promise.all([start(), start(), start()]);
  for (let count = 0; count < 2; count += 1) operators.push(await composeOperator(config));
  apis = started.map((instance) => createApi(instance.url, key));
});
after(async () => {
  await Promise.all(operators.map((operator) => operator.close()));
  await Promise.all(instances.map((instance) => instance.close()));
});

const rounds = 8;
/** Asks every instance the same at once, several times each; gives the statuses, sorted. */
const allAtOnce = async (ask: (api: Api) => Promise<{ status: number }>): Promise<number[]> => {
  const asked = [...apis, ...apis, ...apis].map(ask);
  return (await Promise.all(asked)).map(({ status }) => status).sort((a, b) => a - b);
};

test("three that start at once on an empty database make one schema and one set of keys", async () => {
  const made = instances.flatMap(({ firstKeys }) =>
    firstKeys.map(({ environment }) => environment),
  );
  assert.deepEqual(made, ["production"], "the key of development was given");
  const keys = await query<{ n: number }>(url, "select count(*) as n from api_keys");
  assert.equal(keys[0]?.n, 2);
});

test("the same flag created at once is created once", async () => {
  for (let round = 0; round < rounds; round += 1) {
    const body = { key: `once-${round}`, type: "boolean" };
    const statuses = await allAtOnce((api) => api("POST", "/flags", body));
    assert.deepEqual(statuses, [201, ...Array.from({ length: 8 }, () => 409)]);
  }
});

test("the same Idempotency-Key at once is one request, and all get its answer", async () => {
  for (let round = 0; round < rounds; round += 1) {
    const header = { "idempotency-key": `same-${round}` };
    const bodies = new Set<string>();
    const statuses = await allAtOnce(async (api) => {
      const answer = await api("POST", "/keys", { name: `made-${round}`, role: "client" }, header);
      bodies.add(answer.text);
      return answer;
    });
    assert.deepEqual(new Set(statuses), new Set([201]));
    assert.equal(bodies.size, 1, "the same key for everybody");
    const made = await query(url, "select id from api_keys where name = $1", [`made-${round}`]);
    assert.equal(made.length, 1);
  }
});

test("of the last two admin keys that revoke each other at once, one is left", async () => {
  for (let round = 0; round < rounds; round += 1) {
    const [operator] = operators;
    const made = await operator?.environments.create(`two-${round}`);
    assert.ok(operator && made?.ok);
    const request = { role: "admin", name: "one of two" } as const;
    const one = await operator.keys.createAsOperator(made.value.id, request);
    const two = await operator.keys.createAsOperator(made.value.id, request);
    const [here = "", there = ""] = instances.map((instance) => instance.url);
    await Promise.all([
      createApi(here, one.text)("DELETE", `/keys/${two.apiKey.id}`),
      createApi(there, two.text)("DELETE", `/keys/${one.apiKey.id}`),
      createApi(there, one.text)("DELETE", `/keys/${one.apiKey.id}`),
    ]);
    assert.equal((await operator.keys.list(made.value)).length, 1);
  }
});

test("an environment created at once by two operators is created once", async () => {
  for (let round = 0; round < rounds; round += 1) {
    const made = await Promise.all(
      [...operators, ...operators].map((operator) => operator.environments.create(`env-${round}`)),
    );
    const codes = made.map((result) => (result.ok ? "made" : result.failure.code)).sort();
    assert.deepEqual(codes, ["CONFLICT", "CONFLICT", "CONFLICT", "made"]);
  }
});

test("the hundredth webhook is the last, whoever registers it", async () => {
  const hook = { url: "http://127.0.0.1:9/", events: ["flag.deleted"] };
  const [api] = apis;
  assert.ok(api);
  for (let count = 0; count < 96; count += 1) await api("POST", "/webhooks", hook);
  const statuses = await allAtOnce((each) => each("POST", "/webhooks", hook));
  assert.deepEqual(statuses, [201, 201, 201, 201, 409, 409, 409, 409, 409]);
  const listed = (await api("GET", "/webhooks")).body as { id: string }[];
  assert.equal(listed.length, 100);
  // And of several that remove the same one, one does.
  for (const { id } of listed.slice(0, rounds)) {
    const removed = await allAtOnce((each) => each("DELETE", `/webhooks/${id}`));
    assert.deepEqual(removed, [204, ...Array.from({ length: 8 }, () => 404)]);
  }
});

test("what one instance has answered every other shows at once", async () => {
  const [one, two, three] = apis;
  assert.ok(one && two && three);
  await one("POST", "/flags", { key: "shown", type: "rollout" });
  for (let percentage = 1; percentage <= 30; percentage += 1) {
    const changed = await one("PATCH", "/flags/shown", { percentage });
    for (const other of [two, three] as const) {
      const read: Answer = await other("GET", "/flags/shown");
      assert.equal(read.text, changed.text);
      assert.equal(read.headers.get("etag"), changed.headers.get("etag"));
      const list = (await other("GET", "/flags")).body as { key: string; percentage?: number }[];
      assert.equal(list.find(({ key: flag }) => flag === "shown")?.percentage, percentage);
    }
  }
});

test("what all of them change at once is one chain of history", async () => {
  const changes = Array.from({ length: 24 }, async (_, index) => {
    const api = apis[index % apis.length] as Api;
    const made = await api("POST", "/flags", { key: `chained-${index}`, type: "boolean" });
    assert.equal(made.status, 201, made.text);
    await Promise.all([
      api("PATCH", `/flags/chained-${index}`, { enabled: true }),
      api("POST", "/keys", { name: `chained-${index}`, role: "client" }),
    ]);
  });
  await Promise.all(changes);
  const [api] = apis as [Api];
  const { body } = await api("GET", "/history/verification");
  assert.partialDeepStrictEqual(body, { verified: true, problemCount: 0 });
});

test("with auto, no more workers than the database has connections for", {
  skip: availableParallelism() < 2 && "this machine has one core",
}, async (t) => {
  const small = await newDatabase();
  const name = new URL(small).pathname.slice(1);
  // One process takes 11.
  await query(small, `alter database "${name}" connection limit 20`);
  const settings = { DATABASE_URL: small, HALYARD_SECRET_KEY: "07".repeat(32) };
  const halyard = await serveOn({ ...settings, HALYARD_WORKERS: "auto" });
  t.after(async () => {
    halyard.kill("SIGTERM");
    await halyard.ended;
  });
  assert.equal((await scrape(halyard.url)).value("halyard_processes"), 1);
  await halyard.printed(/"workers":1,.*fewer workers than cores/);
});
