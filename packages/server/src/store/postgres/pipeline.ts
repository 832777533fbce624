// Kysely on pg with few round trips: inside a transaction only those statements are waited for whose answer somebody reads.
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type QueryResult,
} from "kysely";
import type { ClientBase, QueryResult as PgResult } from "pg";
import type { Tables } from "../schema/tables.ts";

/** Statements that are prepared by name, for the whole process; further ones are parsed each time. */
const maxNames = 400;
/** A longer text is a list of many rows, whose length hardly comes twice. */
const longestNamed = 2_000;

const names = new Map<string, string>();
const nameOf = (text: string): string | undefined => {
  const known = names.get(text);
  if (known !== undefined || names.size >= maxNames || text.length > longestNamed) return known;
  const name = `h${names.size}`;
  names.set(text, name);
  return name;
};

/** PostgreSQL's text cannot hold U+0000, and a JavaScript string can: it is stored as U+001A 0, and U+001A as U+001A 1. */
const escapeText = (value: unknown): unknown =>
  typeof value === "string" && (value.includes("\0") || value.includes("\x1a"))
    ? value.replaceAll("\x1a", "\x1a1").replaceAll("\0", "\x1a0")
    : value;
export const unescapeText = (text: string): string =>
  text.includes("\x1a") ? text.replaceAll("\x1a0", "\0").replaceAll("\x1a1", "\x1a") : text;

const send = (client: ClientBase, { sql: text, parameters }: CompiledQuery): Promise<PgResult> => {
  const name = nameOf(text);
  return client.query({ text, values: parameters.map(escapeText), ...(name && { name }) });
};

const toResult = <R>({ rows, rowCount }: PgResult): QueryResult<R> => ({
  rows,
  numAffectedRows: BigInt(rowCount ?? 0),
});

const noStream = (): never => {
  throw new Error("Rows are not streamed.");
};

/** One statement at a time, outside any transaction. */
export const plainConnection = (client: ClientBase): DatabaseConnection => ({
  executeQuery: async <R>(query: CompiledQuery) => toResult<R>(await send(client, query)),
  streamQuery: noStream,
});

/** Nobody reads the answer of a write that gives no rows back: its error comes with the next answer that is read. */
const isBlind = ({ query, sql: text }: CompiledQuery): boolean => {
  switch (query.kind) {
    case "InsertQueryNode":
    case "UpdateQueryNode":
    case "DeleteQueryNode":
      return query.returning === undefined;
    default:
      return text.startsWith("notify ");
  }
};

/**
 * A transaction on one connection. Statements are sent as they come and carried out in that order; reads that are asked
 * for together share a round trip. After an error PostgreSQL refuses everything up to the end, and the first error is
 * the one that is told.
 */
export class PipelinedTransaction implements DatabaseConnection {
  readonly #client: ClientBase;
  readonly streamQuery = noStream;
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #commitSent = false;

  constructor(client: ClientBase, beginning: readonly string[]) {
    this.#client = client;
    for (const text of beginning) client.query(text).catch((error) => this.#fail(error));
  }

  /** The first error of the database or the connection; undefined when there was none. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Whether the database may have committed although nobody has heard of it. */
  get commitSent(): boolean {
    return this.#commitSent;
  }

  #fail(error: unknown): unknown {
    this.#failure ??= { error };
    return this.#failure.error;
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#isOver) throw new Error("The transaction is over.");
    this.#throwFailure();
    const answer = send(this.#client, query);
    if (isBlind(query)) {
      answer.catch((error) => this.#fail(error));
      return { rows: [] };
    }
    try {
      return toResult(await answer);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  async commit(): Promise<void> {
    this.#isOver = true;
    this.#throwFailure();
    this.#commitSent = true;
    try {
      const { command } = await this.#client.query("commit");
      // A transaction in which something failed is rolled back by its commit.
      if (command !== "COMMIT")
        this.#fail(new Error("PostgreSQL has rolled the transaction back."));
    } catch (error) {
      this.#fail(error);
    }
    this.#throwFailure();
  }

  async rollback(): Promise<void> {
    this.#isOver = true;
    try {
      await this.#client.query("rollback");
    } catch (error) {
      // Then the connection is gone, and the transaction with it.
      this.#fail(error);
    }
  }
}

const dialect = new PostgresDialect({
  pool: () => Promise.reject(new Error("Connections are provided.")),
});
const unbound = new Kysely<Tables>({ dialect });

export type Provide = <T>(consumer: (connection: DatabaseConnection) => Promise<T>) => Promise<T>;

/** Queries whose connection is provided by the function given. */
export const kyselyOn = (provideConnection: Provide): Kysely<Tables> =>
  new Kysely<Tables>({
    config: { dialect },
    dialect,
    driver: dialect.createDriver(),
    executor: unbound.getExecutor().withConnectionProvider({ provideConnection }),
  });
