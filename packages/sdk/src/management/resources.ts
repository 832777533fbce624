// The resources of the management API, as requests and responses contain them.
import type { EventType, FlagEventType } from "@halyard/core/event-types";
import type { CreateFlag, Flag, PatchFlag } from "@halyard/core/flags/registry";
import type { ResultCounts } from "@halyard/core/result-counts";

/** Keys with the role owner are issued by the operator. */
export type Role = "client" | "server" | "editor" | "admin" | "owner";
export type FlagEventName = FlagEventType;
/** Of flags and of segments. */
export type EventName = EventType;

export type NewFlag = CreateFlag;
export type FlagPatch = PatchFlag;

export interface Actor {
  /** Null for a person who was signed in, for the operator and for Halyard itself. */
  readonly keyId: string | null;
  /** Of the key or of the person. */
  readonly name: string;
  /** The person who was signed in, or whose personal key it was. */
  readonly user?: UserRef;
}

/** A person, with the name at that time. */
export interface UserRef {
  readonly id: string;
  readonly name: string;
  /** In events only, if the operator has enabled it. */
  readonly email?: string;
}

export interface Reviewed {
  readonly id: string;
  /** Names of the people; for a personal key, `Ada Lovelace (key cli)`. */
  readonly approvedBy: readonly string[];
}

export interface Bypass {
  readonly actor: Actor;
  readonly reason: string;
}

export interface FlagHistoryEntry {
  readonly version: number;
  /** Of the environment, which the change made. */
  readonly revision: number;
  readonly createdAt: string;
  readonly actor: Actor;
  /** Given with the change. */
  readonly reason?: string;
  /** The change request that it was part of, and who approved it. */
  readonly changeRequest?: Reviewed;
  /** The owner who bypassed the approval. */
  readonly bypass?: Bypass;
  readonly events: readonly FlagEventName[];
  readonly before: Flag | null;
  readonly after: Flag | null;
  /** The chain of the environment's history at this entry; null if something other than Halyard wrote it. */
  readonly chain: string | null;
}

export interface HistoryEntry {
  readonly subject:
    | "flag"
    | "segment"
    | "webhook"
    | "key"
    | "user"
    | "environment"
    | "change-request";
  readonly id: string;
  /** Null for what has none, such as webhooks and keys. */
  readonly version: number | null;
  /** Of the environment, which a change of a flag or a segment made; null for everything else. */
  readonly revision: number | null;
  readonly createdAt: string;
  readonly actor: Actor;
  /** Given with the change. */
  readonly reason?: string;
  readonly changeRequest?: Reviewed;
  readonly bypass?: Bypass;
  readonly actions: readonly string[];
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
  /** The chain of the environment's history at this entry; null if something other than Halyard wrote it. */
  readonly chain: string | null;
}

/** What the server found when it checked the chain of the history. */
export interface HistoryVerification {
  readonly environment: string;
  readonly verified: boolean;
  /** The chain at the last entry. */
  readonly head: string;
  readonly entries: number;
  /** Entries that were deleted after their retention, and the time of the newest of them. */
  readonly pruned: number;
  readonly prunedUntil: string | null;
  /** The numbers of the entries in which a person's name was replaced. */
  readonly redacted: readonly number[];
  /** Entries at the end that are not part of the chain. */
  readonly unchained: number;
  /** The first 20. */
  readonly problems: readonly {
    readonly id: number | null;
    readonly createdAt: string | null;
    readonly message: string;
  }[];
  readonly problemCount: number;
  readonly verifiedAt: string;
}

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly (EventName | "*")[];
  /** Whether its requests have the headers of CloudEvents too; false by default. */
  readonly cloudEvents?: boolean;
}

export interface WebhookPatch {
  readonly active?: boolean;
  readonly events?: readonly (EventName | "*")[];
  readonly cloudEvents?: boolean;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  /** Absent when its requests have no headers of CloudEvents. */
  readonly cloudEvents?: boolean;
  readonly createdAt: string;
}

export interface CreatedWebhook extends Omit<Webhook, "createdAt"> {
  /** Returned only once. */
  readonly secret: string;
}

export interface RotatedSecret {
  /** Returned only once. */
  readonly secret: string;
  readonly previousSecretValidUntil: string | null;
}

export interface DeliveryAttempt {
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly milliseconds: number;
  readonly response: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly kind: "event" | "replay" | "test";
  readonly state: "pending" | "delivered" | "failed";
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly sequence: number | null;
    /** Null for events without a flag. */
    readonly flagKey: string | null;
    readonly segmentKey?: string;
  };
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly nextAttemptAt: string | null;
  /** The id of the pending delivery of the same flag that is sent first; null when this one is next. */
  readonly behind: string | null;
  readonly attempts: readonly DeliveryAttempt[];
}

export interface AttemptTotals {
  readonly succeeded: number;
  readonly failed: number;
}

/** Counts above 10,000 are reported as 10,000. */
export interface WebhookHealth {
  readonly webhookId: string;
  /** A person pauses a webhook; Halyard deactivates one that is gone or has failed for five days. */
  readonly status:
    | "healthy"
    | "unstable"
    | "failing"
    | "pending"
    | "idle"
    | "paused"
    | "deactivated";
  readonly failingSince: string | null;
  /** Why Halyard deactivated it. */
  readonly deactivatedFor: string | null;
  readonly pending: number;
  /** Parts of the pending deliveries: those that failed before, and those that wait for an earlier one of the same flag. */
  readonly retrying: number;
  readonly heldBack: number;
  /** Permanently failed after the last attempt. */
  readonly failed: number;
  readonly oldestPendingAt: string | null;
  /** Never in the past; null if none is planned. While the webhook fails, due deliveries are attempted one at a time. */
  readonly nextAttemptAt: string | null;
  readonly lastHour: AttemptTotals;
  readonly lastDay: AttemptTotals;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly lastError: string | null;
}

export interface DetailedWebhookHealth extends WebhookHealth {
  /** The oldest deliveries that are retried, and how many later ones of the same flag wait for each. */
  readonly blocking: readonly {
    readonly deliveryId: string;
    readonly flagKey: string | null;
    readonly attempts: number;
    readonly error: string | null;
    readonly nextAttemptAt: string | null;
    readonly heldBack: number;
  }[];
}

export interface RetriedDeliveries {
  /** How many failed deliveries are pending again. */
  readonly retried: number;
  /** False when there may be more: call it again. */
  readonly complete: boolean;
}

export interface SentDelivery extends Delivery {
  /** The same in every attempt; each attempt adds its own timestamp and signatures. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

export interface ReplayRange {
  readonly afterSequence?: number;
  readonly from?: string;
  readonly to?: string;
}

/** A replay of a range: the server queues it in parts, including after a restart. */
export interface Replay {
  readonly state: "running" | "complete" | "stopped";
  /** How many events are queued so far; `throughSequence` is the sequence number of the last of them. */
  readonly replayed: number;
  /** Of these events: still to be delivered, and permanently failed. */
  readonly pending: number;
  readonly failed: number;
  readonly throughSequence: number | null;
  readonly complete: boolean;
  /** All events up to this sequence number are processed; the range ends at `lastSequence`. */
  readonly reachedSequence: number;
  readonly lastSequence: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Who changed a flag last, and when; null when history has no change of it. */
export interface LastChange {
  readonly at: string;
  readonly actor: Actor;
}

export interface FlagUsage {
  readonly key: string;
  readonly lastEvaluatedAt: string | null;
  /** The last bulk evaluation: a request for all flags together. */
  readonly lastAskedTogetherAt: string | null;
  readonly lastChange: LastChange | null;
  /** Oldest first, without hours that have no evaluations. */
  readonly hours: readonly UsageHour[];
}

/** Evaluations within an hour. Those of a flag with variants or rules are counted by them too. */
export interface UsageHour extends ResultCounts {
  readonly hour: string;
  readonly on: number;
  readonly off: number;
  /** Bulk evaluations, from the first full hour after the flag's creation. */
  readonly together: number;
}

export interface UsageSummary extends ResultCounts {
  readonly key: string;
  readonly on: number;
  readonly off: number;
  readonly lastEvaluatedAt: string | null;
  readonly lastAskedTogetherAt: string | null;
  readonly lastChange: LastChange | null;
  /** Not evaluated, not part of a bulk evaluation, and not changed in 30 days. */
  readonly stale: boolean;
}
