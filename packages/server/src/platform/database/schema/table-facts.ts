// What copying a store and deleting an environment have to know of each table. A table that is missing here does not compile.
import type { Tables } from "./tables.ts";

export interface TableFacts {
  readonly key: readonly string[];
  /** The column that the database counts up. */
  readonly identity?: string;
  /** An environment, by its column `environment_id`; the rows of another table, with which it is deleted; or neither. */
  readonly belongsTo: "environment" | keyof Tables | "store";
  /** False for what is of no use in another store. */
  readonly isCopied: boolean;
}

/** Those that others refer to come first. */
export const tableFacts = {
  schema_version: { key: ["version"], belongsTo: "store", isCopied: false },
  environments: { key: ["id"], identity: "id", belongsTo: "store", isCopied: true },
  api_keys: { key: ["id"], belongsTo: "environment", isCopied: true },
  flags: { key: ["environment_id", "key"], belongsTo: "environment", isCopied: true },
  segments: { key: ["environment_id", "key"], belongsTo: "environment", isCopied: true },
  segment_members: {
    key: ["environment_id", "segment_key", "list", "member"],
    belongsTo: "environment",
    isCopied: true,
  },
  flag_references: {
    key: ["environment_id", "flag_key", "kind", "key"],
    belongsTo: "environment",
    isCopied: true,
  },
  history: { key: ["id"], identity: "id", belongsTo: "environment", isCopied: true },
  history_checkpoints: { key: ["id"], identity: "id", belongsTo: "environment", isCopied: true },
  events: { key: ["id"], belongsTo: "environment", isCopied: true },
  webhooks: { key: ["id"], belongsTo: "environment", isCopied: true },
  delivery_queues: { key: ["id"], identity: "id", belongsTo: "webhooks", isCopied: true },
  deliveries: { key: ["position"], identity: "position", belongsTo: "webhooks", isCopied: true },
  attempts: { key: ["position", "number"], belongsTo: "deliveries", isCopied: true },
  attempt_counts: { key: ["webhook_id", "slot"], belongsTo: "webhooks", isCopied: true },
  replays: { key: ["webhook_id"], belongsTo: "webhooks", isCopied: true },
  usage: {
    key: ["environment_id", "flag_key", "hour"],
    belongsTo: "environment",
    isCopied: true,
  },
  usage_counts: {
    key: ["environment_id", "flag_key", "hour", "kind", "name"],
    belongsTo: "environment",
    isCopied: true,
  },
  evaluation_errors: {
    key: ["environment_id", "key_id", "code", "flag_key", "program"],
    belongsTo: "environment",
    isCopied: true,
  },
  change_requests: { key: ["id"], belongsTo: "environment", isCopied: true },
  change_request_entries: {
    key: ["request_id", "number"],
    belongsTo: "change_requests",
    isCopied: true,
  },
  removed_environments: { key: ["id"], belongsTo: "store", isCopied: true },
  users: { key: ["id"], belongsTo: "store", isCopied: true },
  installation: { key: ["id"], belongsTo: "store", isCopied: true },
  user_addresses: { key: ["user_id", "hash"], belongsTo: "store", isCopied: true },
  linked_accounts: { key: ["user_id"], belongsTo: "store", isCopied: true },
  identities: { key: ["issuer", "subject"], belongsTo: "store", isCopied: true },
  sign_in_links: { key: ["hash"], belongsTo: "store", isCopied: false },
  sessions: { key: ["hash"], belongsTo: "store", isCopied: false },
  instances: { key: ["id"], belongsTo: "store", isCopied: false },
  idempotency_records: { key: ["key_id", "name"], belongsTo: "api_keys", isCopied: true },
} as const satisfies { readonly [T in keyof Tables]: TableFacts };

export const tableNames = Object.keys(tableFacts) as (keyof Tables)[];
