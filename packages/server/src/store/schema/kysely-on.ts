// Kysely without its own pool and transactions: queries run on the connection that a function provides.
import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  Kysely,
  type QueryResult,
} from "kysely";
import type { Database, Tables } from "./tables.ts";

export type Provide = <T>(consumer: (connection: DatabaseConnection) => Promise<T>) => Promise<T>;

/** There are no plugins, and no query is aborted: what Kysely does for those around each query is left out. */
class DirectExecutor extends DefaultQueryExecutor {
  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.provideConnection((connection) => connection.executeQuery<R>(query));
  }
}

/** Runs a query that is compiled already. */
export const execute = <R>(database: Database, query: CompiledQuery<R>): Promise<QueryResult<R>> =>
  database.getExecutor().executeQuery<R>(query);

export const kyselyOn = (dialect: Dialect): ((provideConnection: Provide) => Database) => {
  const driver = dialect.createDriver();
  const adapter = dialect.createAdapter();
  const compiler = dialect.createQueryCompiler();
  return (provideConnection) =>
    new Kysely<Tables>({
      config: { dialect },
      dialect,
      driver,
      executor: new DirectExecutor(compiler, adapter, { provideConnection }),
    });
};
