// How the health of a webhook is worded and colored, and the durations of its last deliveries.
import type { AttemptTotals, Delivery, WebhookHealth } from "@halyard/sdk/management";
import type { Tone } from "../components/display/status-badge.tsx";
import { formatNumber, formatPercent } from "../format.ts";

export const healthTone: Readonly<Record<WebhookHealth["status"], Tone>> = {
  healthy: "good",
  unstable: "waiting",
  failing: "bad",
  pending: "waiting",
  idle: "quiet",
  paused: "quiet",
  deactivated: "bad",
};

/** When a delivery that is due is attempted. */
export const dueText = (status: WebhookHealth["status"] | undefined): string =>
  status === "failing"
    ? "in its turn: the receiver fails, so it gets one request at a time"
    : "as soon as the receiver has taken what is ahead of it";

/** The server counts up to here. */
const countLimit = 10_000;

export const formatCount = (count: number): string =>
  `${formatNumber(count)}${count >= countLimit ? " or more" : ""}`;

/** Such as "98.5% of 480"; never rounded up to 100. */
export const successOf = ({ succeeded, failed }: AttemptTotals): string => {
  const all = succeeded + failed;
  if (all === 0) return "no attempts";
  return `${formatPercent(Math.floor((1_000 * succeeded) / all) / 10)} of ${formatNumber(all)}`;
};

export interface Durations {
  readonly p50: number;
  readonly p95: number;
}

/** Of the last attempts; undefined when there was none. */
export const durationsOf = (deliveries: readonly Delivery[]): Durations | undefined => {
  const times = deliveries
    .flatMap(({ attempts }) => attempts.at(-1)?.milliseconds ?? [])
    .sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  const [p50, p95] = [at(0.5), at(0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
};
