// The health of a webhook as a badge and a few short sentences.
import type { WebhookHealth } from "@halyard/sdk/management";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time, Upcoming } from "../components/display/time.tsx";
import { formatDate } from "../format.ts";
import { formatCount, healthTone } from "./webhook-health.ts";

/** When a request is sent although one is due already, and why not at once. */
const dueRequest = (status: WebhookHealth["status"]): string => {
  if (status === "failing") {
    return "within about 15 seconds: the receiver fails, so it gets one request at a time until it accepts one; then the rest follows";
  }
  return status === "unstable" ? "within seconds" : "now";
};

const Pending = ({ health }: { readonly health: WebhookHealth }) => (
  <>
    <span>{formatCount(health.pending)} pending.</span>
    {health.oldestPendingAt !== null && (
      <span>
        The oldest is from <Time at={health.oldestPendingAt} />.
      </span>
    )}
    {health.retrying > 0 && <span>{formatCount(health.retrying)} retrying.</span>}
    {health.heldBack > 0 && (
      <span>{formatCount(health.heldBack)} held back by an earlier event of the same flag.</span>
    )}
    {health.nextAttemptAt === null ? (
      <span>Nothing is sent until the webhook is resumed.</span>
    ) : (
      <span>
        Next attempt <Upcoming at={health.nextAttemptAt} otherwise={dueRequest(health.status)} />.
      </span>
    )}
  </>
);

export const HealthLine = ({ health }: { readonly health: WebhookHealth }) => {
  const { status, failingSince, deactivatedFor, lastError, lastFailureAt, lastSuccessAt } = health;
  return (
    <div className="health-line">
      <StatusBadge tone={healthTone[status]}>{status}</StatusBadge>
      {status === "deactivated" && (
        <span>Halyard deactivated it{deactivatedFor !== null && `: ${deactivatedFor}`}.</span>
      )}
      {status === "failing" && failingSince !== null && (
        <span>
          Failing since {formatDate(failingSince)} (<Time at={failingSince} />)
          {lastError !== null && `: ${lastError}`}.
        </span>
      )}
      {(status === "unstable" || status === "deactivated") && lastFailureAt !== null && (
        <span>
          Last error <Time at={lastFailureAt} />: {lastError}.
        </span>
      )}
      {lastSuccessAt !== null && (
        <span>
          Last success <Time at={lastSuccessAt} />.
        </span>
      )}
      {lastSuccessAt === null && lastFailureAt !== null && <span>No success on record.</span>}
      {health.pending > 0 && <Pending health={health} />}
      {health.failed > 0 && <span>{formatCount(health.failed)} failed.</span>}
      {status === "idle" && <span>No deliveries yet.</span>}
    </div>
  );
};
