// A delivery: one event on its way to one webhook, its states, and the attempts that were made.
import type { NewDelivery } from "../../../writes/webhook.ts";
export const deliveryStates = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why it exists: a live event, a replay, or a test of the webhook. */
export const deliveryKinds = ["event", "replay", "test"] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

export interface QueuedDelivery extends NewDelivery {
  readonly kind: DeliveryKind;
  readonly at: Date;
}

/** Why there was no complete response, by category. */
export const brokenCauses = [
  "address_refused",
  "name",
  "connection",
  "tls",
  "timeout",
  "bad_answer",
  "shutdown",
] as const;
export type BrokenCause = (typeof brokenCauses)[number];

/** How one attempt ended. */
export type Outcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfter: string | undefined;
      /** The first KiB of the response body. */
      readonly response: string;
      readonly milliseconds: number;
    }
  | {
      /** No complete response; the status when there was at least that. */
      readonly kind: "broken";
      readonly reason: string;
      readonly cause?: BrokenCause;
      readonly status: number | undefined;
      readonly response: string;
      readonly milliseconds: number;
    };

export interface Attempt {
  readonly at: Date;
  readonly milliseconds: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly sequence: number | null;
    /** What its deliveries are ordered by, see `orderedBy`; null for a test. */
    readonly orderingKey: string | null;
  };
  readonly createdAt: Date;
  readonly settledAt: Date | null;
  /** When the next attempt is due; null when there is none. */
  readonly nextAttemptAt: Date | null;
  /** The id of the pending delivery of the same flag that is sent first; null when this one is next. */
  readonly behind: string | null;
  readonly attempts: readonly Attempt[];
}

/** What every attempt sends alike; timestamp and signatures differ. */
export interface FixedRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

/** The receiver is gone for good. */
export const isGone = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status === 410;

/** The error in the delivery log; null for a success. */
export const errorOf = (outcome: Outcome): string | null => {
  if (outcome.kind === "broken") return outcome.reason;
  if (isSuccess(outcome)) return null;
  if (outcome.status >= 300 && outcome.status < 400) {
    return `answered ${outcome.status}; redirects are not followed`;
  }
  if (outcome.status === 410) return "answered 410 Gone; the webhook was deactivated";
  return `answered ${outcome.status}`;
};

export const attemptOf = (outcome: Outcome, at: Date): Attempt => ({
  at,
  milliseconds: Math.round(outcome.milliseconds),
  status: outcome.status ?? null,
  error: errorOf(outcome),
  response: outcome.response === "" ? null : outcome.response,
});

/** Retrying is part of pending: those that have failed before. */
export const deliveryFilters = [...deliveryStates, "retrying"] as const;

export interface DeliveryQuery {
  readonly state?: (typeof deliveryFilters)[number];
  readonly flagKey?: string;
  readonly limit: number;
  /** Only deliveries older than the one with this id. */
  readonly before?: string;
}

/** A range of events: by sequence number, or within times. */
export interface EventRange {
  readonly afterSequence?: number;
  readonly throughSequence?: number;
  readonly from?: Date;
  readonly to?: Date;
}

export type EventReference = Omit<Delivery["event"], "type">;
