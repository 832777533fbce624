// Counts attempts and finished deliveries by their outcome.
import { isSuccess, type Outcome } from "../../features/webhooks/deliveries/rules.ts";
import type { RunBatch } from "../../features/webhooks/sending/batch.ts";
import type { Send } from "../database/store.ts";
import { createTiming, type Timing } from "./timing.ts";

export interface DeliveryMeter {
  /** Attempts by outcome. */
  readonly attempts: ReadonlyMap<string, number>;
  readonly succeeded: Timing;
  readonly failed: Timing;
  readonly finished: { readonly delivered: number; readonly failed: number };
  /** Counts every attempt. */
  readonly send: (send: Send) => Send;
  /** Counts finished deliveries once they are recorded. */
  readonly runBatch: (run: RunBatch) => RunBatch;
}

/** The outcome of an attempt as one of a few names. */
export const endingOf = (outcome: Outcome): string => {
  if (outcome.kind === "broken") return outcome.cause ?? "other";
  return isSuccess(outcome) ? "success" : `status_${Math.floor(outcome.status / 100)}xx`;
};

export const createDeliveryMeter = (): DeliveryMeter => {
  const attempts = new Map<string, number>();
  const succeeded = createTiming();
  const failed = createTiming();
  const finished = { delivered: 0, failed: 0 };
  return {
    attempts,
    succeeded,
    failed,
    finished,

    send: (send) => async (url, headers, body) => {
      const outcome = await send(url, headers, body);
      const ending = endingOf(outcome);
      attempts.set(ending, (attempts.get(ending) ?? 0) + 1);
      (ending === "success" ? succeeded : failed).add(outcome.milliseconds);
      return outcome;
    },

    runBatch: (run) => async (batch) => {
      const claimed = await run(batch);
      for (const { decision } of batch.results) {
        if (decision.kind !== "retry") finished[decision.kind] += 1;
      }
      return claimed;
    },
  };
};
