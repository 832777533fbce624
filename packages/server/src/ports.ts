// What the server needs from the world, on one page. Adapters fulfil it in store/ and compose.ts.
import type { ApiKey } from "./domain/api-key.ts";
import type { Change, EnvironmentState, VersionedFlag } from "./domain/change.ts";
import type { HistoryEntry, HistorySubject, NewHistoryEntry } from "./domain/history.ts";
import type { Principal } from "./domain/principal.ts";
import type { NewDelivery, Webhook } from "./domain/webhook.ts";

export type Clock = () => Date;
export type RandomBytes = (count: number) => Uint8Array<ArrayBuffer>;

/** Every address that a name stands for; empty when it has none or the answer takes over a second. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface Environment {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly flagCount: number;
}

export interface FlagList {
  readonly revision: number;
  readonly flags: readonly VersionedFlag[];
}

export interface HistoryQuery {
  readonly subject: HistorySubject;
  readonly subjectId: string;
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly before?: number;
}

/** Always the last committed state. */
export interface Reader {
  environments(): Promise<readonly Environment[]>;
  revision(environmentId: number): Promise<number>;
  flag(environmentId: number, key: string): Promise<VersionedFlag | undefined>;
  flags(environmentId: number): Promise<FlagList>;
  webhooks(environmentId: number): Promise<readonly Webhook[]>;
  webhook(environmentId: number, id: string): Promise<Webhook | undefined>;
  keys(environmentId: number): Promise<readonly ApiKey[]>;
  /** The holder of the key with this hash, unless it is revoked. */
  principal(hash: Uint8Array): Promise<{ hash: Uint8Array; principal: Principal } | undefined>;
  history(environmentId: number, query: HistoryQuery): Promise<readonly HistoryEntry[]>;
}

export interface NewKey extends ApiKey {
  readonly environmentId: number;
  readonly hash: Uint8Array;
}

export interface RememberedAnswer {
  readonly fingerprint: string;
  readonly sealed: Uint8Array;
}

/** Everything in it happens, or nothing. */
export interface Transaction extends Reader {
  /** Holds the environment until the end: its changes are made one after the other. Undefined when it is gone. */
  lockEnvironment(environmentId: number): Promise<EnvironmentState | undefined>;
  /** The version at which the last flag of this key was deleted; 0 when there was none. */
  lastVersion(environmentId: number, key: string): Promise<number>;
  /** The only way to write a flag: with its history entry, events and deliveries. */
  commit(change: Change, deliveries: readonly NewDelivery[]): Promise<void>;

  insertWebhook(environmentId: number, webhook: Webhook, secret: string): Promise<void>;
  updateWebhook(environmentId: number, webhook: Webhook): Promise<void>;
  deleteWebhook(environmentId: number, id: string): Promise<void>;

  insertKey(key: NewKey): Promise<void>;
  revokeKey(environmentId: number, id: string, at: Date): Promise<void>;
  /** Where a key of this hash was ever issued, revoked or not. */
  keyIssuedIn(hash: Uint8Array): Promise<{ environmentId: number; revoked: boolean } | undefined>;

  insertEnvironment(name: string, at: Date): Promise<Environment>;
  deleteEnvironment(id: number): Promise<void>;

  record(environmentId: number, entry: NewHistoryEntry): Promise<void>;

  remembered(keyId: string, name: string, now: Date): Promise<RememberedAnswer | undefined>;
  remember(
    keyId: string,
    name: string,
    answer: RememberedAnswer,
    until: Date,
    now: Date,
  ): Promise<void>;
}

export interface Store extends Reader {
  /** Runs the work in one transaction; when it throws, nothing of it has happened. */
  transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Throws StoreUnavailable when the store cannot be written to. */
  check(): Promise<void>;
  close(): Promise<void>;
}
