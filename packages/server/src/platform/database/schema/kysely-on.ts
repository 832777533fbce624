// Kysely without its own pool and transactions: queries run on the connection that a function provides.
import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  Kysely,
  type QueryCompiler,
  type QueryResult,
} from "kysely";
import type { Database, Tables } from "./tables.ts";

export interface Connection extends DatabaseConnection {
  /** Runs a statement of which nothing is read. A transaction on PostgreSQL doesn't wait for it: an error fails the commit. */
  send(query: CompiledQuery): Promise<void>;
}

/** Runs a call to the database and measures it. */
export type ObserveCall = <T>(
  operation: "transaction" | "read" | "delivery",
  name: string,
  call: () => Promise<T>,
) => Promise<T>;

export const unobserved: ObserveCall = (_operation, _name, call) => call();

export type Provide = <T>(consumer: (connection: Connection) => Promise<T>) => Promise<T>;

/** There are no plugins, and no query is aborted: what Kysely does for those around each query is left out. */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #provide: Provide;
  readonly #observe: ObserveCall;

  constructor(
    compiler: QueryCompiler,
    adapter: DialectAdapter,
    provide: Provide,
    observe: ObserveCall,
  ) {
    super(compiler, adapter, { provideConnection: (consumer) => provide(consumer) });
    this.#provide = provide;
    this.#observe = observe;
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#observe("read", "select", () =>
      this.#provide((connection) => connection.executeQuery<R>(query)),
    );
  }

  send(query: CompiledQuery): Promise<void> {
    return this.#provide((connection) => connection.send(query));
  }
}

/** A query of Kysely's, or SQL. */
export interface Buildable<Row = unknown> {
  compile(database: Database): CompiledQuery<Row>;
}

/** For writes of which nothing is read, see `Connection.send`. */
export const send = (database: Database, query: Buildable): Promise<void> =>
  (database.getExecutor() as DirectExecutor).send(query.compile(database));

/** Runs a query that is compiled already. */
export const execute = <R>(database: Database, query: CompiledQuery<R>): Promise<QueryResult<R>> =>
  database.getExecutor().executeQuery<R>(query);

/** Statements are observed as reads: those of a transaction are part of its own observation, so it leaves `observe` out. */
export const kyselyOn = (
  dialect: Dialect,
): ((provide: Provide, observe?: ObserveCall) => Database) => {
  const driver = dialect.createDriver();
  const adapter = dialect.createAdapter();
  const compiler = dialect.createQueryCompiler();
  return (provide, observe = unobserved) =>
    new Kysely<Tables>({
      config: { dialect },
      dialect,
      driver,
      executor: new DirectExecutor(compiler, adapter, provide, observe),
    });
};
