// What copying a store and deleting an environment have to know of each table. A table that is missing here does not compile.
import type { Tables } from "./tables.ts";

type Owner = {
  readonly [T in keyof Tables]: { readonly table: T; readonly column: keyof Tables[T] & string };
}[keyof Tables];

export interface TableFacts {
  readonly key: readonly string[];
  /** The column that the database counts up. */
  readonly identity?: string;
  /** The column that names the environment, or the owner through which a row belongs to one. */
  readonly environment:
    | { readonly column: string }
    | { readonly column: string; readonly owner: Owner }
    /** The row is the environment, or belongs to none. */
    | undefined;
  /** False for what is of no use in another store. */
  readonly isCopied: boolean;
}

const ofEnvironment = { column: "environment_id" } as const;
const ofWebhook = { column: "webhook_id", owner: { table: "webhooks", column: "id" } } as const;

/** Those that others refer to come first. */
export const tableFacts = {
  schema_version: { key: ["version"], environment: undefined, isCopied: false },
  environments: { key: ["id"], identity: "id", environment: undefined, isCopied: true },
  api_keys: { key: ["id"], environment: ofEnvironment, isCopied: true },
  flags: { key: ["environment_id", "key"], environment: ofEnvironment, isCopied: true },
  history: { key: ["id"], identity: "id", environment: ofEnvironment, isCopied: true },
  events: { key: ["id"], environment: ofEnvironment, isCopied: true },
  webhooks: { key: ["id"], environment: ofEnvironment, isCopied: true },
  lanes: { key: ["id"], identity: "id", environment: ofWebhook, isCopied: true },
  deliveries: { key: ["position"], identity: "position", environment: ofWebhook, isCopied: true },
  attempts: {
    key: ["position", "number"],
    environment: { column: "position", owner: { table: "deliveries", column: "position" } },
    isCopied: true,
  },
  usage: {
    key: ["environment_id", "flag_key", "hour"],
    environment: ofEnvironment,
    isCopied: true,
  },
  sign_in_links: { key: ["hash"], environment: undefined, isCopied: false },
  answers: {
    key: ["key_id", "name"],
    environment: { column: "key_id", owner: { table: "api_keys", column: "id" } },
    isCopied: true,
  },
} as const satisfies { readonly [T in keyof Tables]: TableFacts };

export const tableNames = Object.keys(tableFacts) as (keyof Tables)[];
