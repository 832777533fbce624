// PostgreSQL ends connections at any moment: nothing is half-written, callers get an answer or 503, and hints come again.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { parseConfig } from "@halyard/server/settings";
import { openPostgresEngine } from "../../../src/platform/database/postgres/store.ts";
import { createSecretCipher } from "../../../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../../../src/platform/database/sql-store.ts";
import { serveOn } from "../../support/halyard-process.ts";
import { newDatabase, query, unhurriedStatements } from "../../support/postgres.ts";
import { addEnvironment, changeFlag, createFlag } from "../../support/store-steps.ts";
import { call, register } from "./client.ts";
import { startReceiver, stepsBack } from "./receiver.ts";
import { until } from "./until.ts";

export const testConnections = ({ terminations }: { readonly terminations: number }): void => {
  const HALYARD_SECRET_KEY = "07".repeat(32);
  const key = "a-key-for-connections-that-end";
  const writers = 6;

  /** Ends the connections of the servers that the condition chooses; gives their number. */
  const terminate = async (url: string, condition: string): Promise<number> => {
    const ended = await query(
      url,
      `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'halyard' and (${condition})`,
    );
    return ended.length;
  };

  test(`connections ended ${terminations} times in the middle of writes`, async (t) => {
    const url = await newDatabase();
    const receiver = await startReceiver();
    const server = await serveOn({
      DATABASE_URL: url,
      HALYARD_SECRET_KEY,
      HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
      HALYARD_LOG_LEVEL: "fatal",
    });
    t.after(async () => {
      server.kill("SIGKILL");
      await server.ended;
      await receiver.close();
    });
    const place = { url: server.url, key };
    await register(place, receiver);
    const flags = Array.from({ length: writers }, (_, index) => `flag-${index}`);
    for (const flag of flags) await call(place, "POST", "/flags", { key: flag, type: "boolean" });

    let isOver = false;
    const answers = new Map<number, number>();
    const answered = () => answers.values().reduce((sum, count) => sum + count, 0);
    /** By flag: the number of the last change that was answered with 200, and of those that were not. */
    const write = async (flag: string) => {
      let [written, unknown, last] = [0, 0, 0];
      for (let change = 1; !isOver; change += 1) {
        const { status } = await call(place, "PATCH", `/flags/${flag}`, {
          description: String(change),
        });
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status === 200) [written, last] = [written + 1, change];
        else unknown += 1;
      }
      return { flag, written, unknown, last };
    };
    const writing = flags.map(write);
    for (let count = 0; count < terminations; ) {
      const before = answered();
      await until("some are answered in between", () => answered() >= before + 10);
      // Those that are at work; and now and then some that only wait to be used.
      if ((await terminate(url, "state <> 'idle' or random() < 0.2")) > 0) count += 1;
    }
    isOver = true;
    const results = await Promise.all(writing);
    t.diagnostic(`answers: ${JSON.stringify(Object.fromEntries(answers))}`);
    for (const status of answers.keys()) assert.ok([200, 503].includes(status), `${status}`);

    for (const { flag, written, unknown, last } of results) {
      const { body, tag } = await call(place, "GET", `/flags/${flag}`);
      const version = Number(tag?.replaceAll('"', ""));
      assert.ok(
        version >= written + 1 && version <= written + unknown + 1,
        `${flag} has version ${version} after ${written} answered and ${unknown} unanswered changes`,
      );
      assert.ok(Number((body as { description: string }).description) >= last, "no answer is lost");
    }
    await until(
      "all is delivered",
      async () => {
        const [row] = await query<{ n: number }>(
          url,
          "select count(*) as n from deliveries where state <> 'delivered'",
        );
        return row?.n === 0;
      },
      { every: 50 },
    );
    const [environment] = await query<{ revision: number; sequence: number }>(
      url,
      "select revision, sequence from environments where name = 'development'",
    );
    const numbers = await query<{ revision: number }>(
      url,
      "select revision from history where revision is not null order by revision",
    );
    assert.deepEqual(
      numbers.map(({ revision }) => revision),
      Array.from({ length: environment?.revision ?? 0 }, (_, index) => index + 1),
    );
    const told = new Set(receiver.receipts.map(({ sequence }) => sequence));
    assert.equal(told.size, environment?.sequence, "every event is told");
    assert.deepEqual(receiver.wrong, []);
    assert.deepEqual(stepsBack(receiver.receipts), []);
    server.kill("SIGTERM");
    assert.equal((await server.ended).code, 0, "it lives through it");
  });

  test("a lost listening connection is made again, and hints come again", async (t) => {
    const url = await newDatabase();
    const { database } = parseConfig({
      DATABASE_URL: url,
      HALYARD_SECRET_KEY,
      HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
    });
    assert.equal(database.kind, "postgres");
    const secrets = createSecretCipher([randomBytes(32)]);
    const [listening, writing] = await Promise.all([
      openPostgresEngine(database, { mayMigrate: true }).then((engine) =>
        createSqlStore(engine, secrets),
      ),
      openPostgresEngine(database, { mayMigrate: true }).then((engine) =>
        createSqlStore(engine, secrets),
      ),
    ]);
    t.after(() => Promise.all([listening.close(), writing.close()]));
    let hints = 0;
    listening.onHint(() => {
      hints += 1;
    });
    const environment = await addEnvironment(writing);
    await until("it listens", () => hints > 0);
    for (let round = 0; round < 3; round += 1) {
      hints = 0;
      await changeFlag(writing, environment.id, createFlag(`before-${round}`));
      await until("a commit is told", () => hints > 0);
      assert.equal(await terminate(url, "query ilike 'listen%'"), 1);
      hints = 0;
      await until("it says so when it listens again", () => hints > 0);
      hints = 0;
      await changeFlag(writing, environment.id, createFlag(`after-${round}`));
      await until("a commit is told again", () => hints > 0);
    }
  });
};
