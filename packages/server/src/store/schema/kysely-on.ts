// Kysely without its own pool and transactions: queries run on the connection that a function provides.
import { type DatabaseConnection, type Dialect, Kysely } from "kysely";
import type { Database, Tables } from "./tables.ts";

export type Provide = <T>(consumer: (connection: DatabaseConnection) => Promise<T>) => Promise<T>;

export const kyselyOn = (dialect: Dialect): ((provideConnection: Provide) => Database) => {
  const driver = dialect.createDriver();
  const executor = new Kysely<Tables>({ dialect }).getExecutor();
  return (provideConnection) =>
    new Kysely<Tables>({
      config: { dialect },
      dialect,
      driver,
      executor: executor.withConnectionProvider({ provideConnection }),
    });
};
