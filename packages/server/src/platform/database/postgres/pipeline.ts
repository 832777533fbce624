// Kysely on pg with few round trips: a transaction doesn't wait for statements that are only sent.
import { type CompiledQuery, PostgresDialect, type QueryResult } from "kysely";
import type { ClientBase, QueryResult as PgResult } from "pg";
import { type Connection, kyselyOn } from "../schema/kysely-on.ts";
import { isRefusal } from "./errors.ts";

/** Statements prepared by name, per process; any more are parsed each time. */
const maxNames = 400;
/** A longer text is a list of many rows, and hardly ever the same twice. */
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
export const escapeText = (value: unknown): unknown =>
  typeof value === "string" && (value.includes("\0") || value.includes("\x1a"))
    ? value.replaceAll("\x1a", "\x1a1").replaceAll("\0", "\x1a0")
    : value;
export const unescapeText = (text: string): string =>
  text.includes("\x1a") ? text.replaceAll("\x1a0", "\0").replaceAll("\x1a1", "\x1a") : text;

const run = (client: ClientBase, { sql: text, parameters }: CompiledQuery): Promise<PgResult> => {
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
export const plainConnection = (client: ClientBase): Connection => ({
  executeQuery: async <R>(query: CompiledQuery) => toResult<R>(await run(client, query)),
  async send(query) {
    await run(client, query);
  },
  streamQuery: noStream,
});

/** When in doubt, it is none. */
const isRead = ({ query }: CompiledQuery): boolean =>
  query.kind === "SelectQueryNode" && query.with === undefined;

/**
 * A transaction on one connection. Statements are sent as they come and executed in that order; reads that start
 * together share a round trip. After an error PostgreSQL rejects everything up to the end; the first error is reported.
 */
export class PipelinedTransaction implements Connection {
  readonly #client: ClientBase;
  readonly streamQuery = noStream;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #commitSent = false;
  #hasWritten = false;
  /** PostgreSQL has refused a statement before the commit, which then rolls back. */
  #isRefused = false;
  /** Awaited before the commit is sent: a connection that was lost earlier is found while nothing can have happened. */
  readonly #begun: Promise<unknown>;

  constructor(client: ClientBase, beginning: readonly string[]) {
    this.#client = client;
    this.#begun = Promise.all(
      beginning.map((text) =>
        client.query(text).catch((error: unknown) => this.#failBeforeCommit(error)),
      ),
    );
  }

  /** The first error of the database or the connection; undefined when there was none. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get commitSent(): boolean {
    return this.#commitSent;
  }

  /** Whether the database may have committed something although no confirmation arrived. */
  get mayBeCommitted(): boolean {
    return this.#commitSent && this.#hasWritten && !this.#isRefused;
  }

  #fail(error: unknown): unknown {
    this.#failure ??= { error };
    return this.#failure.error;
  }

  #failBeforeCommit(error: unknown): unknown {
    this.#isRefused ||= isRefusal(error);
    return this.#fail(error);
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  #run(query: CompiledQuery): Promise<PgResult> {
    if (this.#hasEnded) throw new Error("The transaction has ended.");
    this.#throwFailure();
    return run(this.#client, query);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#hasWritten ||= !isRead(query);
    const result = this.#run(query);
    try {
      return toResult(await result);
    } catch (error) {
      throw this.#failBeforeCommit(error);
    }
  }

  /** An error surfaces with the next statement that is awaited, at the latest with the commit. */
  async send(query: CompiledQuery): Promise<void> {
    this.#hasWritten = true;
    this.#run(query).catch((error: unknown) => this.#failBeforeCommit(error));
  }

  async commit(): Promise<void> {
    this.#hasEnded = true;
    await this.#begun;
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
    this.#hasEnded = true;
    try {
      await this.#client.query("rollback");
    } catch (error) {
      // The connection is lost, and the transaction with it.
      this.#fail(error);
    }
  }
}

/** Queries on connections from the given function. */
export const postgresOn = kyselyOn(
  new PostgresDialect({ pool: () => Promise.reject(new Error("Connections are provided.")) }),
);
