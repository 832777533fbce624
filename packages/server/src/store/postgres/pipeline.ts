// Kysely on pg with few round trips: a transaction waits only for statements whose result is used.
import {
  type CompiledQuery,
  type DatabaseConnection,
  PostgresDialect,
  type QueryResult,
} from "kysely";
import type { ClientBase, QueryResult as PgResult } from "pg";
import { kyselyOn } from "../schema/kysely-on.ts";
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

const insistence = "with found as (";
/** Divides by zero if the query finds nothing: `isUnfound` in errors.ts. */
export const insisting = (text: string): string =>
  `${insistence}${text}) select 1 / (select count(*) from found)`;

/** Raw statements that nothing is read from: one that begins with `with` must be a write, or insist. */
const blindTexts = /^(notify|with) /;

/** When in doubt, it is one. */
const isWrite = ({ query, sql: text }: CompiledQuery): boolean =>
  query.kind === "SelectQueryNode" ? query.with !== undefined : !text.startsWith(insistence);

/** The result of a write without returned rows is not awaited: its error surfaces with the next awaited statement. */
const isBlind = ({ query, sql: text }: CompiledQuery): boolean => {
  switch (query.kind) {
    case "InsertQueryNode":
    case "UpdateQueryNode":
    case "DeleteQueryNode":
      return query.returning === undefined;
    case "RawNode":
      return blindTexts.test(text);
    default:
      return false;
  }
};

/**
 * A transaction on one connection. Statements are sent as they come and executed in that order; reads that start
 * together share a round trip. After an error PostgreSQL rejects everything up to the end; the first error is reported.
 */
export class PipelinedTransaction implements DatabaseConnection {
  readonly #client: ClientBase;
  readonly streamQuery = noStream;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #commitSent = false;
  #hasWritten = false;
  /** PostgreSQL has refused a statement before the commit, which then rolls back. */
  #isRefused = false;
  /** Awaited before the commit is sent; undefined if the connection is known to work. */
  readonly #proof: Promise<unknown> | undefined;

  /** Without `isProven` the beginning is answered before the commit is sent: a lost connection is found while nothing can have happened. */
  constructor(client: ClientBase, beginning: readonly string[], isProven = false) {
    this.#client = client;
    const begun = beginning.map((text) =>
      client.query(text).catch((error: unknown) => this.#failBeforeCommit(error)),
    );
    if (!isProven) this.#proof = Promise.all(begun);
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

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#hasEnded) throw new Error("The transaction has ended.");
    this.#throwFailure();
    this.#hasWritten ||= isWrite(query);
    const answer = send(this.#client, query);
    if (isBlind(query)) {
      answer.catch((error) => this.#failBeforeCommit(error));
      return { rows: [] };
    }
    try {
      return toResult(await answer);
    } catch (error) {
      throw this.#failBeforeCommit(error);
    }
  }

  async commit(): Promise<void> {
    this.#hasEnded = true;
    await this.#proof;
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
