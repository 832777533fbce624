// What the server needs from the outside, on one page. Adapters in store/ and compose/ implement it.

import type { IsSigned } from "@halyard/core/history/verify";
import type { InstanceReads, InstanceWrites } from "../../evaluation/clients/report.ts";
import type { EnvironmentContent, SegmentReads } from "../../evaluation/content.ts";
import type {
  CountedFlag,
  FlagUsage,
  NewProgramErrors,
  StoredProgramErrors,
  UsageHour,
} from "../../evaluation/usage/counts.ts";
import type {
  ChangeRequestReads,
  ChangeRequestWrites,
} from "../../features/change-requests/change-request.ts";
import type {
  EnvironmentReads,
  EnvironmentWrites,
  RemovedEnvironment,
} from "../../features/environments/rules.ts";
import type { RedactedPerson } from "../../features/history/redaction.ts";
import type {
  CredentialReads,
  CredentialWrites,
} from "../../features/people/sign-in/credentials.ts";
import type { OneHuman, UserReads, UserWrites } from "../../features/people/user.ts";
import type {
  Delivery,
  DeliveryKind,
  DeliveryQuery,
  EventRange,
  EventReference,
  Outcome,
} from "../../features/webhooks/delivery.ts";
import type { HealthReads } from "../../features/webhooks/health.ts";
import type { Outbox } from "../../features/webhooks/outbox.ts";
import type { ReplayReads, ReplayWrites } from "../../features/webhooks/replay.ts";
import type { Change, EnvironmentState, Revision, VersionedFlag } from "../../writes/change.ts";
import type {
  ChainReads,
  EventLogReads,
  HistoryReads,
  HistorySearchReads,
  NewHistoryEntry,
  PastReads,
  RedactedEntries,
} from "../../writes/history-entry.ts";
import type { IdempotencyWrites } from "../../writes/idempotency-record.ts";
import type { ReferenceReads } from "../../writes/references.ts";
import type { NewDelivery, TestEvent, Webhook } from "../../writes/webhook.ts";
import type { ApiKey, ApiKeyIn, NewKey } from "../auth/api-key.ts";
import type { Principal, Requester } from "../auth/principal.ts";
import type {
  SessionWrites,
  SignInLinkReads,
  SignInLinkWrites,
  StoredSession,
} from "../auth/session.ts";
import type { AuditLine, Db, Tx } from "./db.ts";

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
export interface Reader
  extends EnvironmentReads,
    ChainReads,
    EventLogReads,
    HealthReads,
    HistoryReads,
    HistorySearchReads,
    PastReads,
    ReplayReads,
    ReferenceReads,
    SegmentReads,
    SignInLinkReads,
    UserReads,
    ChangeRequestReads {
  /** Newest first. */
  removedEnvironments(): Promise<readonly RemovedEnvironment[]>;
  flag(environmentId: number, key: string): Promise<VersionedFlag | undefined>;
  content(environmentId: number): Promise<EnvironmentContent>;
  webhooks(environmentId: number): Promise<readonly Webhook[]>;
  webhook(environmentId: number, id: string): Promise<Webhook | undefined>;
  /** Newest first. */
  deliveries(webhookId: string, query: DeliveryQuery): Promise<readonly Delivery[]>;
  delivery(webhookId: string, id: string): Promise<Delivery | undefined>;
  eventBody(eventId: string): Promise<Uint8Array | undefined>;
  /** The first events of a range that have one of these types, oldest first. */
  events(
    environmentId: number,
    range: EventRange,
    types: readonly string[],
    limit: number,
  ): Promise<readonly EventReference[]>;
  /** Those that are not revoked, oldest first. */
  keys(environmentId: number): Promise<readonly ApiKey[]>;
  /** A key of any environment that isn't revoked. */
  apiKey(id: string): Promise<ApiKeyIn | undefined>;
  session(hash: Uint8Array): Promise<StoredSession | undefined>;
  /** Newest first. */
  sessionsOf(userId: string): Promise<readonly StoredSession[]>;
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
  /** The counts of every flag since a time, sorted by key; of one flag when its key is given. */
  usage(environmentId: number, since: Date, flagKey?: string): Promise<readonly CountedFlag[]>;
  /** The hours of one flag, or of `allFlags`, since a time, oldest first; hours without evaluations are left out. */
  usageHours(environmentId: number, flagKey: string, since: Date): Promise<readonly UsageHour[]>;
  /** Failed evaluations since a time that still fail, at most `limit`, the latest first. */
  evaluationErrors(
    environmentId: number,
    since: Date,
    limit: number,
  ): Promise<readonly StoredProgramErrors[]>;
}

type ReadsToChange = Pick<
  Reader,
  | keyof ReplayReads
  | keyof ReferenceReads
  | keyof SegmentReads
  | keyof SignInLinkReads
  | keyof UserReads
  | keyof EnvironmentReads
  | keyof ChangeRequestReads
  | "flag"
  | "webhooks"
  | "webhook"
  | "keys"
  | "apiKey"
  | "delivery"
  | "events"
  | "history"
>;

/** What is read under the environment's lock. */
export interface Locked {
  readonly state: EnvironmentState;
  readonly webhooks: readonly Webhook[];
}

/**
 * All or nothing. Calls are executed in the order in which they are made, also when they are made
 * together. What is read after a lock is read under the lock.
 */
export interface Transaction
  extends Tx,
    ReadsToChange,
    CredentialReads,
    CredentialWrites,
    EnvironmentWrites,
    IdempotencyWrites,
    ReplayWrites,
    SessionWrites,
    SignInLinkWrites,
    UserWrites,
    OneHuman,
    ChangeRequestWrites {
  /** A lock on everything until the end: for what concerns all environments. */
  alone(): Promise<void>;
  /** Locks the environment until the end, so that its changes are serialized. Undefined when it is gone. */
  lockEnvironment(environmentId: number): Promise<Locked | undefined>;
  /** The version at which the last one of this key was deleted; 0 when there was none. */
  lastVersion(environmentId: number, kind: Revision["kind"], key: string): Promise<number>;
  /** The only way to write what has revisions: with its history entry, events and deliveries. */
  commit(change: Change, deliveries: readonly NewDelivery[]): Promise<void>;
  insertWebhook(environmentId: number, webhook: Webhook, secret: string): Promise<void>;
  /** With a time: it was activated then, and its pending deliveries are due at once. */
  updateWebhook(environmentId: number, webhook: Webhook, activated: Date | null): Promise<void>;
  /** The old secret stays valid until the time given; null removes it at once. */
  rotateSecret(webhookId: string, secret: string, previousUntil: Date | null): Promise<void>;
  /** An event for one webhook only, not part of the environment's sequence. */
  insertTestEvent(environmentId: number, event: TestEvent, at: Date): Promise<void>;
  queue(deliveries: readonly NewDelivery[], kind: DeliveryKind, at: Date): Promise<void>;
  deleteWebhook(environmentId: number, id: string): Promise<void>;
  /** Deletes at most `limit` deliveries of a webhook with their attempts; returns their number. */
  deleteDeliveries(webhookId: string, limit: number): Promise<number>;
  /**
   * What waits for a retry is due now, and at most `limit` failed deliveries are pending again, for one more attempt each;
   * returns the number of the latter.
   */
  retryFailed(webhookId: string, limit: number, at: Date): Promise<number>;
  insertKey(key: NewKey): Promise<void>;
  /** Beyond `kept`, the keys that were revoked first are forgotten. */
  revokeKey(environmentId: number, id: string, at: Date, kept: number): Promise<void>;
  /** Where a key of this hash was ever issued, revoked or not. */
  keyIssuedIn(hash: Uint8Array): Promise<{ environmentId: number; revoked: boolean } | undefined>;
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
}

export interface TransactOptions {
  /** The only environment that the work locks. */
  readonly environmentId?: number;
  /** For the audit log; undefined when no request asks for the change. */
  readonly requester?: Requester;
}

export interface Store extends Db, Reader, CredentialReads, InstanceReads, InstanceWrites {
  /** For reads that are not made for a request: they never fail because too many requests wait. */
  readonly background: Db;
  /** Whether a checkpoint of history is signed with a secret key of ours; undefined when that key is missing. */
  readonly isCheckpointSigned: IsSigned;
  /** The name of the database when all that is sent to it crosses a network unencrypted. */
  readonly unencryptedTo: string | undefined;
  /** A number that changes with every commit of any process, read without waiting; undefined when the store has none. */
  readonly committed: (() => number) | undefined;
  /**
   * Runs the work in one transaction; when it throws, nothing has happened. The work may run more than once
   * after a conflict: it decides from what it reads, and only its last run counts. Works that say that they lock one environment
   * and no other are committed together while they wait for its lock; each is still all or nothing.
   */
  transact<T>(
    work: (transaction: Transaction) => Promise<T>,
    options?: TransactOptions,
  ): Promise<T>;
  /** Called and awaited before `transact` resolves, so that whoever sees the result sees the change. Never throws. */
  onCommit(listener: (commit: Commit) => Promise<void> | undefined): () => void;
  /** A hint that some instance may have committed something. It may be false, late or missing: it only speeds up a poll. */
  onHint(listener: () => void): () => void;
  /** Whether anybody signs in with a password. */
  hasPasswords(): Promise<boolean>;
  keysUsed(keyIds: readonly string[], at: Date): Promise<void>;
  sessionUsed(hash: Uint8Array, at: Date): Promise<void>;
  /** Adds to the counts of an hour. An environment or flag that is gone is ignored. */
  addUsage(environmentId: number, hour: Date, counts: readonly FlagUsage[]): Promise<void>;
  /** Adds failed evaluations and deletes the oldest rows over the limit of each API key. An environment that is gone is ignored. */
  addEvaluationErrors(environmentId: number, errors: readonly NewProgramErrors[]): Promise<void>;
  readonly outbox: Outbox;
  /** Replaces a person's name and address in the history of every environment. */
  redactHistory(person: RedactedPerson, now: Date): Promise<readonly RedactedEntries[]>;
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
