// The health of a webhook: what is pending, how the attempts go, and the status that follows from both.

export const healthStatuses = [
  "healthy",
  "unstable",
  "failing",
  "pending",
  "idle",
  "paused",
  "deactivated",
] as const;
export type HealthStatus = (typeof healthStatuses)[number];

export interface AttemptTotals {
  readonly succeeded: number;
  readonly failed: number;
}

export interface DeliveryHealth {
  readonly webhookId: string;
  readonly active: boolean;
  /** The first failure since the last success; null when the last attempt succeeded. */
  readonly failingSince: Date | null;
  /** Why Halyard deactivated it; null when it did not, or when the history no longer tells. */
  readonly deactivatedFor: string | null;
  /** Counted up to `countLimit`, as the numbers below. */
  readonly pending: number;
  /** Of the pending: those that have failed before. */
  readonly retrying: number;
  /** Of the pending: those that wait for an earlier delivery of the same flag. */
  readonly heldBack: number;
  /** Given up. */
  readonly failed: number;
  readonly oldestPendingAt: Date | null;
  /** When the first pending delivery is due. */
  readonly dueAt: Date | null;
  readonly lastHour: AttemptTotals;
  readonly lastDay: AttemptTotals;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastError: string | null;
}

/** A delivery that is retried, and what it holds back. */
export interface BlockingDelivery {
  readonly deliveryId: string;
  readonly orderingKey: string | null;
  readonly attempts: number;
  readonly error: string | null;
  readonly dueAt: Date | null;
  /** Later deliveries of the same flag. */
  readonly heldBack: number;
}

/** More than this is told as this. */
export const countLimit = 10_000;
/** Deliveries that are named as holding back others. */
export const blockingLimit = 5;

/** A receiver that accepts some of its requests is unstable; it fails when it has accepted none for this long. */
const failingAfter = 60_000;

export const statusOf = (health: DeliveryHealth, now: Date): HealthStatus => {
  const { active, failingSince, lastSuccessAt } = health;
  // The pause by a person ends the failure, the deactivation by Halyard does not.
  if (!active) return failingSince === null ? "paused" : "deactivated";
  const sinceSuccess = now.getTime() - (lastSuccessAt?.getTime() ?? 0);
  if (failingSince !== null && sinceSuccess >= failingAfter) return "failing";
  if (health.retrying > 0 || health.lastHour.failed > 0) return "unstable";
  if (lastSuccessAt !== null) return "healthy";
  return health.pending > 0 ? "pending" : "idle";
};

/** When the next attempt is due: now when it was due before; null when none is planned. */
export const nextAttemptOf = (active: boolean, dueAt: Date | null, now: Date): Date | null =>
  !active || dueAt === null ? null : dueAt < now ? now : dueAt;
