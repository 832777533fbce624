// The health of a webhook as a badge and a sentence.
import type { Delivery, Webhook } from "@halyard/sdk";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { formatNumber } from "../format.ts";
import { healthOf } from "./webhook-health.ts";
import { latestCount } from "./webhook-queries.ts";

interface HealthLineProps {
  readonly webhook: Webhook;
  readonly deliveries: readonly Delivery[];
}

export const HealthLine = ({ webhook, deliveries }: HealthLineProps) => {
  const { tone, label, lastSuccess, failingSince, lastError, pending } = healthOf(
    webhook,
    deliveries,
  );
  return (
    <div className="health-line">
      <StatusBadge tone={tone}>{label}</StatusBadge>
      {failingSince !== undefined && (
        <span>
          Failing since <Time at={failingSince} />
          {lastError !== undefined && `: ${lastError}`}.
        </span>
      )}
      {lastSuccess !== undefined && (
        <span>
          Last success <Time at={lastSuccess} />.
        </span>
      )}
      {lastSuccess === undefined && deliveries.length > 0 && <span>No recent success.</span>}
      {pending > 0 && (
        <span>
          {formatNumber(pending)}
          {pending === latestCount ? " or more" : ""} pending.
        </span>
      )}
      {deliveries.length === 0 && <span>No deliveries yet.</span>}
    </div>
  );
};
