// The indexes of SQLite that pages of the history are read by.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { listHistory } from "../src/features/history/queries.ts";
import type { Tables } from "../src/platform/database/schema/tables.ts";
import type { HistoryQuery } from "../src/writes/history-entry.ts";
import { readRows } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The statement that reads a page, which nobody executes. */
const statementOf = async (query: Omit<HistoryQuery, "limit">) => {
  const made: { sql: string; parameters: readonly unknown[] }[] = [];
  const database = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    log: ({ query: compiled }) => {
      made.push(compiled);
    },
  });
  await listHistory({ database }, 1, { limit: 101, ...query });
  const [statement] = made;
  assert.ok(statement);
  return statement;
};

test("every filter has an index in the order of the page", async () => {
  const at = new Date();
  const expected: readonly (readonly [Omit<HistoryQuery, "limit">, ...string[]])[] = [
    [{}, "history_by_time"],
    [{ since: at, until: at }, "history_by_time"],
    [{ before: { id: 7, at } }, "history_by_time"],
    [{ subject: "segment", until: at }, "history_by_kind_and_time"],
    [{ deleted: true }, "history_of_deletions"],
    [{ deleted: true, subject: "flag" }, "history_of_deletions_by_kind"],
    [{ actor: "ci", until: at }, "history_by_actor_name", "history_by_actor_key"],
    [{ subject: "flag", subjectId: "f" }, "history_by_subject"],
  ];
  for (const [query, ...indexes] of expected) {
    const { sql, parameters } = await statementOf(query);
    const values = parameters as (string | number)[];
    const plan = await readRows(server, `explain query plan ${sql}`, ...values);
    const steps = plan.map(({ detail }) => String(detail));
    const used = steps.flatMap((step) => /USING INDEX (\w+)/.exec(step)?.[1] ?? []);
    assert.deepEqual(used, indexes, steps.join("\n"));
    assert.ok(!steps.some((step) => step.startsWith("SCAN history")), steps.join("\n"));
  }
});
