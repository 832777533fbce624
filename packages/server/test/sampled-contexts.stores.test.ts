// Which requests leave their context in the sample, and where it never goes.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { composeOperator, type KeyRole, parseConfig } from "@halyard/server";
import { openListening } from "../src/process/listening.ts";
import { createLog } from "../src/process/log.ts";
import type { Instance } from "../src/server/instance.ts";
import { createApi } from "./support/api.ts";
import { readContents } from "./support/database.ts";
import { evaluateAll, evaluateOne, makeFlag } from "./support/ofrep.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder } from "./support/server.ts";
import { storeSettings, unhurried } from "./support/test-store.ts";
import { until } from "./support/until.ts";

const marker = "marker-that-nobody-else-writes";
const folder = newFolder();
let logged = "";
let instance: Instance;
let url: string;
let newEnvironment: (name: string) => Promise<{ id: number; key(role: KeyRole): Promise<string> }>;
let closeAll: () => Promise<void>;

before(async () => {
  const config = parseConfig({
    PORT: "0",
    HALYARD_LOG_LEVEL: "trace",
    HALYARD_MAX_LAG: unhurried,
    ...(await storeSettings(folder)),
  });
  const destination = {
    write(line: string) {
      logged += line;
    },
  };
  ({ instance, url } = await openListening(config, createLog(config, null, destination), {
    slowRequest: 1,
  }));
  const operator = await composeOperator(config);
  newEnvironment = async (name) => {
    const made = await operator.environments.create(name);
    assert.ok(made.ok);
    const { id } = made.value;
    const key = async (role: KeyRole) =>
      (await operator.keys.createAsOperator(id, { role, name: role })).text;
    return { id, key };
  };
  closeAll = async () => {
    await operator.close();
    await instance.close();
  };
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

const sampled = (environmentId: number) => {
  const part = instance.samplePart(environmentId);
  const keysOf = (entries: readonly { readonly text: string }[] = []) =>
    entries.map(({ text }) => (JSON.parse(text) as { targetingKey: string }).targetingKey).sort();
  return { clients: keysOf(part?.clients.entries), others: keysOf(part?.others.entries) };
};

test("every evaluation leaves its context, by the role of its key; nothing else does", async () => {
  const { id, ...environment } = await newEnvironment("asked");
  const [admin, server, client] = [
    createApi(url, await environment.key("admin")),
    createApi(url, await environment.key("server")),
    createApi(url, await environment.key("client")),
  ];
  await makeFlag(admin, { key: "a", type: "boolean" });
  const about = (targetingKey: string) => ({ context: { targetingKey, note: marker } });
  await evaluateOne(server, "a", about("one"));
  await evaluateOne(server, "a", about("one-more"));
  await evaluateOne(client, "a", about("client"));
  await evaluateOne(client, "a", about("client-more"));
  await evaluateAll(admin, about("bulk"));
  await evaluateAll(client, about("client-bulk"));
  const report = (contexts: readonly object[]) => ({
    evaluations: [{ key: "a", on: 1, off: 0 }],
    contexts,
  });
  const reported = [{ targetingKey: "reported", note: marker }];
  assert.equal((await server("POST", "/usage", report(reported))).status, 204);
  const byClient = [{ targetingKey: "client-reported" }, { targetingKey: "reported" }];
  assert.equal((await client("POST", "/usage", report(byClient))).status, 204);

  await evaluateOne(server, "missing", about("flag-missing"));
  await admin("POST", "/flags/a/explain", about("explained"));
  for (const wrong of [[1], [[]], "a", new Array(101).fill({})]) {
    const answer = await server("POST", "/usage", { ...report([]), contexts: wrong });
    assert.equal(answer.status, 400, answer.text);
  }
  assert.deepEqual(sampled(id), {
    clients: ["client", "client-bulk", "client-more", "client-reported", "reported"],
    others: ["bulk", "one", "one-more", "reported"],
  });
});

test("an environment that is deleted is forgotten", async () => {
  const { id, ...environment } = await newEnvironment("gone");
  const admin = createApi(url, await environment.key("admin"));
  await makeFlag(admin, { key: "a", type: "boolean" });
  await evaluateOne(admin, "a", { context: { targetingKey: "somebody" } });
  assert.deepEqual(sampled(id).others, ["somebody"]);
  const other = await newEnvironment("other");
  const owner = createApi(url, await other.key("owner"));
  assert.equal((await owner("DELETE", "/environments/gone?flags=true")).status, 204);
  await until("it is forgotten", () => sampled(id).others.length === 0);
});

test("contexts are neither stored nor logged nor counted by name", async () => {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /halyard_http_requests_total/);
  assert.ok(!metrics.includes(marker));
  await closeAll();
  assert.match(logged, /Server listening/);
  assert.ok(!logged.includes(marker), "the log");
  const contents = await readContents({ folder });
  assert.ok(contents.size > 0);
  for (const [name, bytes] of contents) assert.ok(!bytes.includes(marker), name);
});
