// A delivery in words and tones, the same wherever it is shown.
import type { Delivery, DeliveryAttempt } from "@halyard/sdk";
import type { Tone } from "../components/display/status-badge.tsx";
import { formatNumber } from "../format.ts";

export const toneOf: Readonly<Record<Delivery["state"], Tone>> = {
  delivered: "good",
  pending: "waiting",
  failed: "bad",
};

export const kindWords: Readonly<Record<Delivery["kind"], string>> = {
  event: "as it happened",
  replay: "sent again on request",
  test: "a test",
};

export const isFailure = ({ error }: DeliveryAttempt): boolean => error !== null;

export const outcomeOf = ({ status, error }: DeliveryAttempt): string =>
  error ?? `answered ${status}`;

export const formatMilliseconds = (milliseconds: number): string =>
  milliseconds < 10_000
    ? `${formatNumber(milliseconds)}\u00a0ms`
    : `${formatNumber(Math.round(milliseconds / 100) / 10)}\u00a0s`;

/** What a row says of it: pending after a failure is something else than pending before the first attempt. */
export const stateWords = ({ state, attempts }: Delivery): string => {
  if (state !== "pending") return state;
  return attempts.some(isFailure) ? "retrying" : "pending";
};
