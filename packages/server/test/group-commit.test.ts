// Changes that are committed together stay each its own: one that fails takes no other with it.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { insertEnvironment } from "../src/features/environments/queries.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { secretKeysIn } from "../src/platform/database/secrets/secret-key-file.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import { writeRows } from "./support/database.ts";
import { newFolder, startTestServer } from "./support/server.ts";

const openStore = async (t: { after: (work: () => Promise<void>) => void }) => {
  const folder = newFolder();
  const store = createSqlStore(
    await openSqliteEngine(folder, { mayMigrate: true }),
    createSecretCipher(secretKeysIn(folder, [])),
  );
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const insert = (name: string) =>
    store.transact((transaction) => insertEnvironment(transaction, name, new Date()));
  const names = async () => (await listEnvironments(store)).map(({ name }) => name).sort();
  return { folder, store, insert, names };
};

/** How many environments another process sees. */
const countFrom = (t: Parameters<typeof openStore>[0], folder: string): (() => number) => {
  const other = new DatabaseSync(join(folder, "halyard.db"), { readOnly: true });
  t.after(async () => other.close());
  const count = other.prepare("select count(*) as rows from environments");
  return () => Number(count.get()?.rows);
};

const hundred = Array.from({ length: 100 }, (_, index) => `e${String(index).padStart(2, "0")}`);

test("what is asked for together is done in this order, and each sees those before it", async (t) => {
  const { store, names } = await openStore(t);
  const seen = await Promise.all(
    hundred.map((name) =>
      store.transact(async (transaction) => {
        const before = (await listEnvironments(transaction)).length;
        await insertEnvironment(transaction, name, new Date());
        return before;
      }),
    ),
  );
  assert.deepEqual(seen, [...hundred.keys()]);
  assert.deepEqual(await names(), hundred);
});

test("it takes fewer commits than changes, and nobody hears of one before it", async (t) => {
  const { folder, insert } = await openStore(t);
  const visible = countFrom(t, folder);
  const rows = new Set<number>();
  await Promise.all(
    hundred.map(async (name, index) => {
      await insert(name);
      const there = visible();
      assert.ok(there > index, `${name} was answered with ${there} rows there`);
      rows.add(there);
    }),
  );
  assert.ok(rows.size < 10, `seen at ${[...rows].join()} rows`);
});

test("others have their turn while more wait than one commit takes", async (t) => {
  const { folder, insert } = await openStore(t);
  const visible = countFrom(t, folder);
  const seen = new Set<number>();
  let isDone = false;
  const all = Promise.all([...hundred, ...hundred.map((name) => `more-${name}`)].map(insert));
  void all.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    seen.add(visible());
    await new Promise((resolve) => setImmediate(resolve));
  }
  await all;
  assert.ok(seen.size > 3, `seen at ${[...seen].join()} rows`);
});

for (const how of ["abort", "rollback", "fail"]) {
  test(`one that is refused (${how}) takes no other with it`, async (t) => {
    const { folder, store, names } = await openStore(t);
    await writeRows(
      { folder },
      `create trigger refusal after insert on environments when new.name = 'e50'
       begin select raise(${how}, 'not this one'); end`,
    );
    const outcomes = await Promise.allSettled(
      hundred.map((name) =>
        store.transact(async (transaction) => {
          await insertEnvironment(transaction, `before-${name}`, new Date());
          await insertEnvironment(transaction, name, new Date());
        }),
      ),
    );
    for (const [index, outcome] of outcomes.entries()) {
      if (index === 50) assert.match(String((outcome as PromiseRejectedResult).reason), /not this/);
      else assert.equal(outcome.status, "fulfilled", `number ${index}`);
    }
    const kept = hundred.filter((name) => name !== "e50");
    assert.deepEqual(await names(), [...kept.map((name) => `before-${name}`), ...kept]);
  });
}

test("a commit that fails for one of them fails for that one alone", async (t) => {
  const { folder, insert, names } = await openStore(t);
  await writeRows(
    { folder },
    "create table promises (kept integer references environments (id) deferrable initially deferred)",
  );
  await writeRows(
    { folder },
    `create trigger refusal after insert on environments when new.name = 'e50'
     begin insert into promises (kept) values (-1); end`,
  );
  const outcomes = await Promise.allSettled(hundred.map(insert));
  assert.deepEqual(
    outcomes.flatMap(({ status }, index) => (status === "rejected" ? [index] : [])),
    [50],
  );
  assert.equal((await names()).length, 99);
});

test("events of changes made at once have no gap, and each answer names its own version", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "a", type: "rollout" });
  const answers = await Promise.all(
    hundred.map((_, index) => admin("PATCH", "/flags/a", { percentage: index / 2 + 0.5 })),
  );
  const versions = answers.map(({ headers }) => Number(headers.get("etag")?.slice(1, -1)));
  assert.deepEqual(
    versions.toSorted((a, b) => a - b),
    hundred.map((_, index) => index + 2),
  );
});
