// The store on PostgreSQL: the contract of every store, and what is PostgreSQL's own.
import { randomBytes } from "node:crypto";
import { openPostgresEngine } from "../src/store/postgres/store.ts";
import { createSecretCipher } from "../src/store/secrets/secret-cipher.ts";
import { createSqlStore } from "../src/store/sql/store.ts";
import { outboxContract } from "./outbox-contract.ts";
import { requestLimitContract } from "./request-limit-contract.ts";
import { type OpenedStore, storeContract } from "./store-contract.ts";
import { dropDatabase, newDatabase, query } from "./support/postgres.ts";

const open = async (): Promise<OpenedStore & { readonly url: string }> => {
  const url = await newDatabase();
  const secrets = createSecretCipher([randomBytes(32)]);
  const settings = {
    url,
    name: "test",
    host: "127.0.0.1",
    poolSize: 10,
    tls: { mode: "prefer" },
  } as const;
  const again = async (maxWaiting?: number) =>
    createSqlStore(await openPostgresEngine(settings, true, maxWaiting), secrets);
  const store = await again();
  return {
    url,
    store,
    again,
    async dump() {
      const tables = await query<{ name: string }>(
        url,
        "select tablename as name from pg_tables where schemaname = 'public' order by 1",
      );
      const rows = tables.map(async ({ name }) => [
        name,
        await query(url, `select * from ${name} as row order by row::text`),
      ]);
      return Object.fromEntries(await Promise.all(rows));
    },
    async failOn(table, verb) {
      await query(
        url,
        `create function refuse() returns trigger language plpgsql
         as $$ begin raise exception 'refused'; end $$`,
      );
      await query(
        url,
        `create trigger refuse before ${verb} on ${table} for each row execute function refuse()`,
      );
      return async () => {
        await query(url, "drop function refuse cascade");
      };
    },
    async setSchemaVersion(version) {
      await query(url, "update schema_version set version = $1", [version]);
    },
    async remove() {
      await store.close();
      await dropDatabase(new URL(url).pathname.slice(1));
    },
  };
};

outboxContract("PostgreSQL", open);
storeContract("PostgreSQL", open, { sharesProcess: true });
requestLimitContract("PostgreSQL", open, { atOnce: 9, readsWait: true });
