// Removing what is large: in parts, so that nobody waits; interrupted and continued; and known afterwards.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { composeOperator, type Operator, parseConfig } from "@halyard/server";
import { openStore } from "@halyard/server/operator";
import { createWebhooks } from "../src/features/webhooks/webhooks.ts";
import type { Actor } from "../src/platform/auth/principal.ts";
import type { Store } from "../src/platform/database/store.ts";
import { readRows, writeRows } from "./support/database.ts";
import { createFlag, register } from "./support/delivery-log.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

const folder = newFolder();
let server: TestServer;
let operator: Operator;
before(async () => {
  server = await startTestServer({ HALYARD_DATA: folder });
  operator = await composeOperator(parseConfig(await storeSettings(folder)));
});
after(async () => {
  await operator.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

/** As many events as take several parts, with a delivery each. */
const addEvents = async (environment: string, webhookId: string, count: number) => {
  const numbers = `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${count})`;
  await writeRows(
    server,
    `${numbers} insert into events (id, environment_id, sequence, type, ordering_key, body, created_at)
     select 'evt_${environment}' || number, environments.id, 1000 + number, type, ordering_key, body, events.created_at
     from numbers, events join environments on environments.id = environment_id
     where environments.name = ? and events.sequence = 1`,
    environment,
  );
  await writeRows(
    server,
    `${numbers} insert into deliveries (id, webhook_id, queue_id, event_id, sequence, kind, state, attempts, created_at)
     select 'dlv_${environment}' || number, webhook_id, queue_id, 'evt_${environment}' || number, sequence, 'event', 'failed', 0, created_at
     from numbers, deliveries where webhook_id = ? and deliveries.id not like 'dlv_${environment}%'`,
    webhookId,
  );
};

test("an environment is closed at once and deleted in parts; a server continues what was interrupted", async () => {
  const { name, admin, keys } = await server.environment();
  const { id } = await register(admin, "http://127.0.0.1:9/");
  await createFlag(admin, "a");
  await addEvents(name, id, 2_300);
  // A server that runs would delete parts of it too.
  await server.close();
  const rows: number[] = [];
  const stop = new Error("interrupted");
  await assert.rejects(
    operator.environments.remove(name, true, (count) => {
      rows.push(count);
      if (rows.length === 2) throw stop;
    }),
    stop,
  );
  assert.deepEqual(rows, [1_000, 2_000]);
  server = await startTestServer({ HALYARD_DATA: folder });
  assert.equal((await server.api(keys.admin)("GET", "/flags")).status, 401);
  const ended = await until("the server ends it", async () => {
    const [removed] = await operator.environments.removed();
    return removed?.endedAt ? removed : undefined;
  });
  assert.deepEqual(
    [ended.name, ended.flags, ended.webhooks, ended.actor?.name],
    [name, 1, 1, "operator"],
    "what it held when it was closed",
  );
  for (const table of ["events", "deliveries"]) {
    const left = await readRows(server, `select id from ${table} where id like '%${name}%'`);
    assert.deepEqual(left, []);
  }
  assert.ok(!(await operator.environments.find(name)).ok);
  assert.ok((await operator.environments.create(name)).ok, "its name is free");
});

test("that a webhook was deleted is recorded before its log is: an interruption loses nothing", async () => {
  const { name, admin } = await server.environment();
  const { id } = await register(admin, "http://127.0.0.1:9/");
  await createFlag(admin, "a");
  await addEvents(name, id, 700);
  const store = await openStore(parseConfig(await storeSettings(folder)));
  let calls = 0;
  const interrupted: Store = {
    ...store,
    transact(callback) {
      calls += 1;
      return calls === 2 ? Promise.reject(new Error("the process ends")) : store.transact(callback);
    },
  };
  const unused = () => assert.fail("not needed");
  const webhooks = createWebhooks({
    store: interrupted,
    clock: () => new Date(),
    random: unused,
    newIds: {
      event: unused,
      delivery: unused,
      webhook: unused,
      key: unused,
      user: unused,
      changeRequest: unused,
    },
    lookUp: unused,
    callbacks: { loopback: true, ports: [], allow: [] },
  });
  const found = await operator.environments.find(name);
  assert.ok(found.ok);
  const actor: Actor = { keyId: "k", name: "who" };
  await assert.rejects(
    webhooks.remove({ actor, environment: found.value }, id),
    /the process ends/,
  );
  const entries = async () =>
    (
      (await admin("GET", "/history?subject=webhook")).body as {
        actions: string[];
        before: object;
      }[]
    )
      .filter(({ actions }) => actions.includes("webhook.deleted"))
      .map((entry) => entry.before as { active: boolean });
  assert.deepEqual(
    (await entries()).map(({ active }) => active),
    [true],
  );
  const shown = (await admin("GET", `/webhooks/${id}`)).body as { active: boolean };
  assert.equal(shown.active, false, "and nothing more is sent to it");
  assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
  assert.equal((await entries()).length, 1, "recorded once");
  assert.deepEqual((await admin("GET", "/webhooks")).body, []);
  await store.close();
});
