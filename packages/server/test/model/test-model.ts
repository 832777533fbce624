// Any sequence of calls about flags and webhooks, good and bad, agrees with a simple model of the service.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { readEvents, readRows, writeRows } from "../support/database.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "../support/server.ts";
import { onPostgres } from "../support/test-store.ts";
import { flagCommands } from "./flag-commands.ts";
import { Model } from "./model.ts";
import { webhookCommands } from "./webhook-commands.ts";

export const testModel = ({
  onSqlite,
  onPostgresql,
}: {
  readonly onSqlite: number;
  readonly onPostgresql: number;
}): void => {
  /** In memory where the machine has such a place: thousands of writes, and none of them has to outlive the test. */
  const memory = "/dev/shm";
  const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "halyard-test-"));

  let server: TestServer;
  before(async () => {
    server = await startTestServer({ HALYARD_DATA: folder });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What no single answer shows: the events in their order, and for whom they were queued. */
  const assertStored = async (model: Model, { name }: TestEnvironment): Promise<void> => {
    const events = await readEvents(server, name);
    assert.deepEqual(
      events.map(({ type, data }) => [type, (data.flag as { key: string }).key, data.version]),
      model.events,
    );
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );
    const rows = await readRows(
      server,
      `select webhooks.id, deliveries.sequence from webhooks
     join environments on environments.id = webhooks.environment_id
     left join deliveries on deliveries.webhook_id = webhooks.id
     where environments.name = ? order by deliveries.sequence`,
      name,
    );
    const queued = Map.groupBy(rows, ({ id }) => String(id));
    const sequences = [...queued].map(([id, own]) => [
      id,
      own.map(({ sequence }) => sequence).filter((sequence) => sequence !== null),
    ]);
    assert.deepEqual(new Map(sequences as [string, number[]][]), model.queued);
  };

  /** Each of its many small calls takes longer on PostgreSQL. */
  const runs = onPostgres ? onPostgresql : onSqlite;

  test(`${runs} random sequences of calls about flags and webhooks agree with the model`, async () => {
    const sequences = fc.commands([...flagCommands, ...webhookCommands], {
      maxCommands: 20,
      size: "max",
    });
    const property = fc.asyncProperty(sequences, async (commands) => {
      const environment = await server.environment();
      const model = new Model();
      await fc.asyncModelRun(() => ({ model, real: environment.admin }), commands);
      await assertStored(model, environment);
      // Nothing is sent for a webhook that is gone: the runs that follow are not slowed by this one.
      if (model.webhooks.size > 0) await writeRows(server, "delete from webhooks");
    });
    await fc.assert(property, { numRuns: runs });
  });
};
