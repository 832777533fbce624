// How a receiver does, judged by its latest deliveries.
import type { Delivery, Webhook } from "@halyard/sdk";
import type { Tone } from "../components/display/status-badge.tsx";

export interface Health {
  readonly tone: Tone;
  /** In a word or two. */
  readonly word: string;
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
  const lastGood = attempts.findIndex(({ error }) => error === null);
  const failures = lastGood === -1 ? attempts : attempts.slice(0, lastGood);
  const pending = deliveries.filter(({ state }) => state === "pending").length;
  const facts = {
    lastSuccess: attempts[lastGood]?.at,
    failingSince: failures.at(-1)?.at,
    lastError: failures[0]?.error ?? undefined,
    pending,
  };
  if (!active) return { ...facts, tone: "quiet", word: "paused" };
  if (failures.length > 0) return { ...facts, tone: "bad", word: "failing" };
  if (lastGood !== -1) return { ...facts, tone: "good", word: "healthy" };
  return pending > 0
    ? { ...facts, tone: "waiting", word: "waiting" }
    : { ...facts, tone: "quiet", word: "not used yet" };
};

export interface Figures {
  readonly settled: number;
  readonly delivered: number;
  readonly medianMilliseconds: number | undefined;
  /** Nineteen of twenty were faster. */
  readonly slowMilliseconds: number | undefined;
}

export const figuresOf = (deliveries: readonly Delivery[]): Figures => {
  const times = deliveries
    .flatMap(({ attempts }) => attempts.at(-1)?.milliseconds ?? [])
    .sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return {
    settled: deliveries.filter(({ state }) => state !== "pending").length,
    delivered: deliveries.filter(({ state }) => state === "delivered").length,
    medianMilliseconds: at(0.5),
    slowMilliseconds: at(0.95),
  };
};
