// The delivery worker's side of the store: claims with leases, their outcomes, and what is pruned.
import type { Attempt, Backlog, WebhookHealth } from "./delivery.ts";
import type { Failing } from "./failing.ts";
import type { RetryDecision } from "./retry.ts";

/** A delivery that only this worker may attempt while its lease lasts. */
export interface Claim {
  readonly queueId: number;
  readonly leaseId: string;
  readonly position: number;
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Attempts made before this one. */
  readonly attempts: number;
  readonly event: { readonly id: string; readonly type: string; readonly body: Uint8Array };
}

/** What it takes to call a webhook. */
export interface Callback {
  readonly webhookId: string;
  readonly environmentId: number;
  readonly url: string;
  readonly secret: string;
  /** During a rotation: the secret before it. */
  readonly previousSecret: string | undefined;
  /** Null when its last request succeeded. */
  readonly failing: Failing | null;
  /** Whether its requests have the headers of CloudEvents. */
  readonly cloudEvents: boolean;
}

export interface ClaimRequest {
  /** How many for each webhook at most. */
  readonly wanted: ReadonlyMap<string, number>;
  /** By webhook, the ordering queues that the worker already holds, whatever the clock says about their leases. */
  readonly held: ReadonlyMap<string, readonly number[]>;
  /** Webhooks that failed recently: for them, deliveries with the fewest attempts come first. */
  readonly probing?: ReadonlySet<string>;
  readonly leaseId: string;
  readonly leaseUntil: number;
  /** A lease that ends later than this from now was taken before the clock went back, and has expired. */
  readonly leaseLength: number;
}

export interface Claimed {
  /** Webhooks whose secret was encrypted with a key that is missing here. */
  readonly unreadable: readonly string[];
  readonly claims: readonly Claim[];
  readonly callbacks: ReadonlyMap<string, Callback>;
}

export interface DeliveryResult {
  readonly claim: Claim;
  readonly attempt: Attempt;
  readonly decision: RetryDecision;
}

/** What a committed transaction means for the delivery worker, by webhook. */
export interface DeliverySignal {
  /** These have new deliveries. */
  readonly queued: ReadonlySet<string>;
  /** These were changed or removed. */
  readonly changed: ReadonlySet<string>;
}

export interface OutboxBatch {
  /** Outcomes of claims; those that another worker has taken over since are ignored. */
  readonly results: readonly DeliveryResult[];
  /** Claims that were not attempted. */
  readonly released: readonly Claim[];
  readonly health: readonly WebhookHealth[];
  readonly claim: ClaimRequest;
  readonly now: number;
}

export interface Retention {
  readonly now: number;
  /** Events, deliveries and counts of evaluations from before this time are deleted. */
  readonly eventsBefore: number;
  /** So is history; undefined keeps all of it. */
  readonly historyBefore: number | undefined;
}

/** The delivery worker's side of the store. */
export interface Outbox {
  onSignal(listener: (signal: DeliverySignal) => void): () => void;
  /** Active webhooks with something due. */
  due(now: number, leaseLength: number): Promise<readonly string[]>;
  backlog(now: number): Promise<Backlog>;
  /** Records outcomes and claims in one transaction. */
  runBatch(batch: OutboxBatch): Promise<Claimed>;
  /** Deletes a small batch of what is no longer needed; true when there may be more. */
  prune(retention: Retention): Promise<boolean>;
}
