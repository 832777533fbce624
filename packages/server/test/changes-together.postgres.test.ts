// Changes that wait for a lock of PostgreSQL are committed together.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client } from "pg";
import { query } from "./support/postgres.ts";
import { startTestServer } from "./support/server.ts";
import { databaseUrlOf } from "./support/test-store.ts";
import { until } from "./support/until.ts";

// The lock is held for as long as a slow machine takes.
const server = await startTestServer({ HALYARD_POSTGRES_TIMEOUT: "600" });
after(() => server.close());

const count = 60;
const numbers = Array.from({ length: count }, (_, index) => index);

const prepare = async () => {
  const environment = await server.environment();
  const { admin } = environment;
  await admin("POST", "/flags", { key: "a", type: "rollout" });
  // Opens as many connections, so that what follows arrives at once.
  await Promise.all(numbers.map(() => admin("GET", "/flags/a")));
  return environment;
};

test("what waits for a lock of PostgreSQL is one transaction then", async (t) => {
  const { admin, name } = await prepare();
  const url = databaseUrlOf(server.folder);
  const [listener, holder] = [new Client(url), new Client(url)];
  t.after(() => Promise.all([listener.end(), holder.end()]));
  await Promise.all([listener.connect(), holder.connect()]);
  await listener.query("listen halyard");
  let heard = 0;
  const ended = new Promise<void>((resolve) => {
    listener.on("notification", ({ payload }) => {
      if (payload === "end") resolve();
      else heard += 1;
    });
  });
  await holder.query("begin");
  await holder.query("select 1 from environments where name = $1 for update", [name]);
  const changes = Promise.all(
    numbers.map((index) => admin("PATCH", "/flags/a", { description: `${index}` })),
  );
  const waits =
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await until("the first one waits", async () => (await query(url, waits)).length > 0);
  // Asked later, so what was sent before has arrived too.
  await admin("GET", "/flags/a");
  await holder.query("commit");
  await changes;
  await query(url, "select pg_notify('halyard', 'end')");
  await ended;
  assert.ok(heard > 0 && heard < count / 4, `${heard} transactions for ${count} changes`);
});
