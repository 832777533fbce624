// What the delivery worker exchanges with the database: claims with leases, their outcomes, and how long rows are kept.
import type { Attempt } from "../deliveries/rules.ts";
import type { Failing, RetryDecision } from "./rules.ts";

/** What is still to be delivered. */
export interface Backlog {
  /** Counted up to a limit. */
  readonly pending: number;
  /** When the oldest that is due became so, of active webhooks; null when none is due. */
  readonly oldestDueAt: number | null;
}

/** What a batch of results says about a webhook. */
export interface WebhookHealth {
  readonly webhookId: string;
  /** Null when it has just succeeded. */
  readonly failing: Failing | null;
  /** Why it is deactivated; null when it is not. */
  readonly deactivate: string | null;
  /** It responds again after an outage: pending retries may run now. */
  readonly recovered: boolean;
}

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

export interface DeliveryBatch {
  /** Outcomes of claims; those that another worker has taken over since are ignored. */
  readonly results: readonly DeliveryResult[];
  /** Claims that were not attempted. */
  readonly released: readonly Claim[];
  readonly health: readonly WebhookHealth[];
  readonly claim: ClaimRequest;
  readonly now: number;
}

/** Records outcomes and claims in one transaction. */
export type RunBatch = (batch: DeliveryBatch) => Promise<Claimed>;

interface Retention {
  readonly now: number;
  /** Events, deliveries and counts of evaluations from before this time are deleted. */
  readonly eventsBefore: number;
  /** So is history; undefined keeps all of it. */
  readonly historyBefore: number | undefined;
}

/** Deletes a small batch of what is no longer needed; true when there may be more. */
export type Prune = (retention: Retention) => Promise<boolean>;
