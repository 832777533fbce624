// What the server needs from the outside, on one page. Adapters in store/ and compose/ implement it.

import type { EnvironmentContent, SegmentReads } from "../../evaluation/content.ts";
import type { Outcome } from "../../features/webhooks/deliveries/rules.ts";
import type { Change, EnvironmentState, Revision, VersionedFlag } from "../../writes/change.ts";
import type { NewHistoryEntry } from "../../writes/history-entry.ts";
import type { IdempotencyWrites } from "../../writes/idempotency-record.ts";
import type { ReferenceReads } from "../../writes/references.ts";
import type { NewDelivery, Webhook } from "../../writes/webhook.ts";
import type { Principal, Requester } from "../auth/principal.ts";
import type { AuditLine } from "../telemetry/audit-line.ts";
import type { Db, Tx } from "./db.ts";

export type Clock = () => Date;
export type RandomBytes = (count: number) => Uint8Array<ArrayBuffer>;

/** For new things: random, so that instances need not coordinate. */
export type NewIds = Readonly<
  Record<"event" | "delivery" | "webhook" | "key" | "user" | "changeRequest", () => string>
>;

/** What new things are made with. */
export interface Sources {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly newIds: NewIds;
}

/** All addresses of a name; rejects when it has none or the lookup takes too long. */
export type LookUp = (name: string) => Promise<readonly string[]>;

/** The position of an environment, for those who follow it. */
export interface Position {
  readonly environmentId: number;
  readonly name: string;
  readonly revision: number;
  /** Counts the keys that were issued and revoked. */
  readonly keysRevision: number;
}

export interface KeyHolder {
  readonly hash: Uint8Array;
  readonly principal: Principal;
  /** Whose access to the environment it is; null for keys, which have a text. */
  readonly accessOf: string | null;
  /** Of the person whose access or key it is. */
  readonly email: string | null;
}

/** Always the last committed state. */
export interface Reader extends ReferenceReads, SegmentReads {
  flag(environmentId: number, key: string): Promise<VersionedFlag | undefined>;
  content(environmentId: number): Promise<EnvironmentContent>;
  /** The position of every environment. */
  positions(): Promise<readonly Position[]>;
  /** The revision log after a revision, oldest first. */
  changesAfter(
    environmentId: number,
    revision: number,
    limit: number,
  ): Promise<readonly Revision[]>;
  /** The holders of every key of an environment that is not revoked, and the people who have access to it. */
  keyHolders(environmentId: number): Promise<readonly KeyHolder[]>;
}

type ReadsToChange = Pick<Reader, keyof ReferenceReads | keyof SegmentReads | "flag">;

/** What is read under the environment's lock. */
export interface Locked {
  readonly state: EnvironmentState;
  readonly webhooks: readonly Webhook[];
}

/**
 * All or nothing. Calls are executed in the order in which they are made, also when they are made
 * together. What is read after a lock is read under the lock.
 */
export interface Transaction extends Tx, ReadsToChange, IdempotencyWrites {
  /** A lock on everything until the end: for what concerns all environments. */
  alone(): Promise<void>;
  /** Locks the environment until the end, so that its changes are serialized. Undefined when it is gone. */
  lockEnvironment(environmentId: number): Promise<Locked | undefined>;
  /** The version at which the last one of this key was deleted; 0 when there was none. */
  lastVersion(environmentId: number, kind: Revision["kind"], key: string): Promise<number>;
  /** The only way to write what has revisions: with its history entry, events and deliveries. */
  commit(change: Change, deliveries: readonly NewDelivery[]): Promise<void>;
  /** Under the environment's lock, which it takes if need be. Returns the chain of the history after it. */
  record(environmentId: number, entry: NewHistoryEntry): Promise<string>;
}

/** What a transaction of this instance has committed. */
export interface Commit {
  readonly changes: readonly Change[];
  /** Ids of keys that are no longer valid. */
  readonly revokedKeys: readonly string[];
  /** Whether people may do more or less than before, or are named differently. */
  readonly accessChanged: boolean;
  /** For the audit log; undefined for a change that no request made. */
  readonly requester: Requester | undefined;
  readonly audit: readonly AuditLine[];
  /** The names of environments that the transaction has locked or created. */
  readonly environmentNames: ReadonlyMap<number, string>;
  /** Webhooks with new deliveries, and webhooks that were changed or removed. */
  readonly queued: ReadonlySet<string>;
  readonly changed: ReadonlySet<string>;
}

export interface TransactOptions {
  /** The only environment that the work locks. */
  readonly environmentId?: number;
  /** For the audit log; undefined when no request asks for the change. */
  readonly requester?: Requester;
}

export interface Store extends Db, Reader {
  /** For reads that are not made for a request: they never fail because too many requests wait. */
  readonly background: Db;
  /** The name of the database when all that is sent to it crosses a network unencrypted. */
  readonly unencryptedTo: string | undefined;
  /** A number that changes with every commit of any process, read without waiting; undefined when the store has none. */
  readonly committed: (() => number) | undefined;
  /**
   * Runs the callback in one transaction; when it throws, nothing has happened. The callback may run more than once
   * after a conflict: it decides from what it reads, and only its last run counts. Works that say that they lock one environment
   * and no other are committed together while they wait for its lock; each is still all or nothing.
   */
  transact<T>(
    callback: (transaction: Transaction) => Promise<T>,
    options?: TransactOptions,
  ): Promise<T>;
  /**
   * A transaction that a crash of the machine may undo, for work that is then simply repeated. It's never refused because too
   * many requests wait.
   */
  transactAsyncCommit<T>(callback: (db: Db) => Promise<T>): Promise<T>;
  /** Called and awaited before `transact` resolves, so that whoever sees the result sees the change. Never throws. */
  onCommit(listener: (commit: Commit) => Promise<void> | undefined): () => void;
  /** A hint that some instance may have committed something. It may be false, late or missing: it only speeds up a poll. */
  onHint(listener: () => void): () => void;
  /** Encrypts every secret with the newest key. */
  reencryptSecrets(choice: { readonly isAddressKeyLost: boolean }): Promise<Reencrypted>;
  /** Webhooks and people whose secret was encrypted with a key that is missing here. */
  unreadableSecrets(): Promise<readonly string[]>;
  /** Throws StoreUnavailable when the store cannot be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Reencrypted {
  readonly count: number;
  /** The key of the hashes of addresses was lost: only addresses that accounts have now are compared. */
  readonly lostAddresses: boolean;
}

/** One attempt to call. Never throws. */
export type Send = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => Promise<Outcome>;
