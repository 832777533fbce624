// Two instances on one PostgreSQL database, neither of which hears of the other.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { verifyStored } from "../../src/features/history/verify-stored.ts";
import { openPostgresEngine } from "../../src/platform/database/postgres/store.ts";
import { createSecretCipher } from "../../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../../src/platform/database/sql-store.ts";
import type { Store, Transaction } from "../../src/platform/database/store.ts";
import { dropDatabase, newDatabase } from "./postgres.ts";
import { addEnvironment, createFlag, type Step } from "./store-steps.ts";

/** An error that a pooler between makes up: PostgreSQL's own names its routine. */
const poolerError = (): Buffer => {
  const fields = Buffer.from("SFATAL\0VFATAL\0C08P01\0Mquery timeout\0\0");
  const head = Buffer.from("E....");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
};

/** The way to PostgreSQL. */
const openNetwork = async (url: string) => {
  const target = new URL(url);
  const open = new Set<Socket>();
  const lost = new Set<Socket>();
  /** Connections on which a commit was passed on last. */
  const committing = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    open.add(client);
    client
      .on("error", () => {})
      .on("close", () => {
        if (!committing.has(client)) database.destroy();
      });
    database.on("error", () => {}).on("close", () => client.destroy());
    database.on("data", (data: Buffer) => client.write(data));
    client.on("data", (data: Buffer) => {
      if (data.includes("commit\0")) committing.add(client);
      else committing.delete(client);
      if (lost.has(client)) client.resetAndDestroy();
      else database.write(data);
    });
  }).listen(0, target.hostname);
  await once(server, "listening");
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    committing,
    /** The connections that are open are refused at their next use. */
    reset() {
      for (const socket of open) lost.add(socket);
    },
    /** What waits for an answer to its commit gets another, as from a pooler; PostgreSQL goes on with what it was sent. */
    giveUp() {
      for (const client of committing) client.end(poolerError());
    },
    close: () => server.close(),
  };
};

/** Neither listens to the other, as when a notification is on its way. With an environment that has the flag `a`. */
export const openTwoInstances = async (t: TestContext) => {
  const url = await newDatabase();
  const secrets = createSecretCipher([randomBytes(32)]);
  const network = await openNetwork(url);
  const open = (from: string) =>
    openPostgresEngine(
      {
        ...{ url: from, name: "test", host: "127.0.0.1", poolSize: 4, timeout: 600_000 },
        tls: { mode: "prefer" },
      },
      { mayMigrate: true },
    );
  const engines = [await open(network.url), await open(url)] as const;
  t.after(async () => {
    for (const engine of engines) await engine.close();
    network.close();
    await dropDatabase(new URL(url).pathname.slice(1));
  });
  const [here, there] = [
    createSqlStore(engines[0], secrets),
    createSqlStore(engines[1], secrets),
  ] as const;
  const { id } = await addEnvironment(here);
  /** Tells what the work came to in its last run, and how often it ran. */
  const change = async <T>(store: Store, callback: (transaction: Transaction) => Promise<T>) => {
    let runs = 0;
    const result = await store.transact(
      (transaction) => {
        runs += 1;
        return callback(transaction);
      },
      { environmentId: id },
    );
    return { result, runs };
  };
  const run = (store: Store, step: Step) =>
    change(store, (transaction) => step(transaction, id)).then(({ runs }) => runs);
  assert.equal(await run(here, createFlag("a")), 1);
  return {
    ...{ url, network, id, here, there, change, run },
    verify: async () => {
      const [verified] = await verifyStored(engines[0], secrets);
      assert.partialDeepStrictEqual(verified, { unchained: 0, problemCount: 0 });
      return verified;
    },
  };
};
