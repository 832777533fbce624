// The health of a webhook, judged by its latest deliveries.
import type { Delivery, Webhook } from "@halyard/sdk";
import type { Tone } from "../components/display/status-badge.tsx";

export interface Health {
  readonly tone: Tone;
  readonly label: string;
  readonly lastSuccess: string | undefined;
  /** When the first attempt failed since the last success; undefined when the last one succeeded. */
  readonly failingSince: string | undefined;
  readonly lastError: string | undefined;
  readonly pending: number;
}

/** `deliveries` newest first. */
export const healthOf = ({ active }: Webhook, deliveries: readonly Delivery[]): Health => {
  const attempts = deliveries
    .flatMap((delivery) => delivery.attempts)
    .sort((one, other) => (one.at < other.at ? 1 : -1));
  const lastSuccess = attempts.findIndex(({ error }) => error === null);
  const failures = lastSuccess === -1 ? attempts : attempts.slice(0, lastSuccess);
  const pending = deliveries.filter(({ state }) => state === "pending").length;
  const facts = {
    lastSuccess: attempts[lastSuccess]?.at,
    failingSince: failures.at(-1)?.at,
    lastError: failures[0]?.error ?? undefined,
    pending,
  };
  if (!active) return { ...facts, tone: "quiet", label: "paused" };
  if (failures.length > 0) return { ...facts, tone: "bad", label: "failing" };
  if (lastSuccess !== -1) return { ...facts, tone: "good", label: "healthy" };
  return pending > 0
    ? { ...facts, tone: "waiting", label: "pending" }
    : { ...facts, tone: "quiet", label: "idle" };
};

export interface Figures {
  readonly completed: number;
  readonly delivered: number;
  readonly p50Milliseconds: number | undefined;
  readonly p95Milliseconds: number | undefined;
}

export const figuresOf = (deliveries: readonly Delivery[]): Figures => {
  const times = deliveries
    .flatMap(({ attempts }) => attempts.at(-1)?.milliseconds ?? [])
    .sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return {
    completed: deliveries.filter(({ state }) => state !== "pending").length,
    delivered: deliveries.filter(({ state }) => state === "delivered").length,
    p50Milliseconds: at(0.5),
    p95Milliseconds: at(0.95),
  };
};
