// A connection to PostgreSQL that is lost during a change: no reason for a 503 when nothing was committed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { decidePatch } from "../src/features/flags/rules.ts";
import { newIds, systemClock } from "../src/operator/operator.ts";
import { halyard } from "../src/platform/auth/principal.ts";
import { StoreUnavailable } from "../src/platform/errors.ts";
import { createCommit } from "../src/writes/commit.ts";
import { query } from "./support/postgres.ts";
import type { Step } from "./support/store-steps.ts";
import { openTwoInstances } from "./support/two-instances.ts";
import { until } from "./support/until.ts";

const commit = createCommit(systemClock, newIds);

/** As the product does it: it waits for what it reads and for the commit. */
const describe =
  (description: string): Step =>
  async (transaction, id) => {
    const [locked, flag] = await Promise.all([
      transaction.lockEnvironment(id),
      transaction.flag(id, "a"),
    ]);
    const decided = flag && decidePatch(flag, { description });
    assert.ok(locked && decided?.ok && decided.value);
    const committed = await commit(transaction, locked, { actor: halyard }, decided.value);
    assert.ok(committed.ok);
  };

const waiting =
  "from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

/** Another transaction locks these rows; returns what ends it. */
const hold = async (url: string, rows: string) => {
  const holder = new Client(url);
  await holder.connect();
  await holder.query("begin");
  await holder.query(`select 1 from ${rows} for update`);
  return () => holder.end();
};

test("what PostgreSQL ends while it waits for the environment is run again: nothing was committed", async (t) => {
  const { here, url, run } = await openTwoInstances(t);
  await run(here, describe("1"));
  const release = await hold(url, "environments");
  const running = run(here, describe("2"));
  const end = `select pg_terminate_backend(pid) ${waiting}`;
  await until("it waits, and is ended", async () => (await query(url, end)).length > 0);
  await release();
  assert.equal(await running, 2);
});

test("a connection that was lost while it was idle is found before the commit is sent", async (t) => {
  const { here, run, network } = await openTwoInstances(t);
  await run(here, describe("1"));
  network.reset();
  assert.equal(await run(here, describe("2")), 2);
});

test("a request that changes nothing is run again, whenever its connection is lost", async (t) => {
  const { here, run, network } = await openTwoInstances(t);
  const look: Step = async (transaction, id) => {
    assert.ok((await transaction.lockEnvironment(id)) && (await transaction.flag(id, "a")));
  };
  await run(here, describe("1"));
  assert.equal(await run(here, look), 1);
  network.reset();
  assert.equal(await run(here, look), 2);
});

test("what a pooler says is no reason to make a change twice: PostgreSQL may have committed it", async (t) => {
  const { here, url, run, network } = await openTwoInstances(t);
  await run(here, describe("1"));
  // What is read is free: the commit is sent while a write waits.
  const release = await hold(url, "flags");
  const running = assert.rejects(run(here, describe("2")), StoreUnavailable);
  await until("it waits, and its commit was sent", async () => {
    const rows = await query(url, `select 1 ${waiting}`);
    return rows.length > 0 && network.committing.size > 0;
  });
  network.giveUp();
  await release();
  await running;
  const made = "select 1 from flags where key = 'a' and version = 3";
  await until("it is committed", async () => (await query(url, made)).length > 0);
});
