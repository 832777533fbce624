// The labels and tones of deliveries, the same everywhere.
import type { Delivery, DeliveryAttempt } from "@halyard/sdk/management";
import type { Tone } from "../components/display/status-badge.tsx";
import { formatNumber } from "../format.ts";

export const toneOf: Readonly<Record<Delivery["state"], Tone>> = {
  delivered: "good",
  pending: "waiting",
  failed: "bad",
};

export const kindLabels: Readonly<Record<Delivery["kind"], string>> = {
  event: "live event",
  replay: "replay",
  test: "test",
};

export const isFailure = ({ error }: DeliveryAttempt): boolean => error !== null;

export const outcomeOf = ({ status, error }: DeliveryAttempt): string =>
  error ?? `answered ${status}`;

export const formatMilliseconds = (milliseconds: number): string =>
  milliseconds < 10_000
    ? `${formatNumber(milliseconds)}\u00a0ms`
    : `${formatNumber(Math.round(milliseconds / 100) / 10)}\u00a0s`;

/** Tells pending after a failure from pending before the first attempt. */
export const stateLabel = ({ state, attempts }: Delivery): string => {
  if (state !== "pending") return state;
  return attempts.some(isFailure) ? "retrying" : "pending";
};
