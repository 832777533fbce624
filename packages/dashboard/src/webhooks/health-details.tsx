// The health of one webhook in full: how attempts went, what holds back what, and what became of its last replay.
import type { DetailedWebhookHealth, Webhook } from "@halyard/sdk/management";
import { Button } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { Time, Upcoming } from "../components/display/time.tsx";
import { type DeliveryFilter, hrefOf } from "../deliveries/delivery-filter.ts";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { adviceOnFailure } from "./failure-advice.ts";
import { useWebhookEdits } from "./webhook-edits.ts";
import { dueText, formatCount, successOf } from "./webhook-health.ts";
import { useReplay } from "./webhook-queries.ts";

type Blocking = DetailedWebhookHealth["blocking"][number];

interface BlockingRowProps {
  readonly blocking: Blocking;
  readonly status: DetailedWebhookHealth["status"];
  readonly filter: DeliveryFilter;
}

const BlockingRow = ({ blocking, status, filter }: BlockingRowProps) => {
  const [path] = useLocation();
  const { deliveryId, flagKey, attempts, error, nextAttemptAt, heldBack } = blocking;
  return (
    <li>
      <Link href={hrefOf(path, { ...filter, opened: deliveryId })} className="mono break-word">
        {flagKey ?? "test"}
      </Link>
      : {error ?? "not delivered"} after {formatNumber(attempts)}{" "}
      {attempts === 1 ? "attempt" : "attempts"}.{" "}
      {nextAttemptAt !== null && (
        <>
          Next attempt <Upcoming at={nextAttemptAt} otherwise={dueText(status)} />.{" "}
        </>
      )}
      {heldBack > 0 &&
        `${formatCount(heldBack)} later ${heldBack === 1 ? "event waits" : "events wait"} for it.`}
    </li>
  );
};

/** What helps, and what happens without anybody's help. */
const WhatToDo = ({ health }: { readonly health: DetailedWebhookHealth }) => {
  const { status, lastError, pending, retrying, failed } = health;
  const isInactive = status === "paused" || status === "deactivated";
  // A receiver that has recovered and has nothing left to retry needs no help.
  const needsHelp = status === "failing" || (status === "unstable" && retrying > 0);
  const sentences: string[] = [];
  if ((needsHelp || status === "deactivated") && lastError !== null) {
    sentences.push(adviceOnFailure(lastError));
  }
  if (needsHelp && pending > 0) {
    sentences.push(
      `Pending events are not lost: each is attempted up to 12 times in about three days${status === "failing" ? ", and all are sent once the receiver accepts one" : ""}.`,
    );
  }
  if (status === "deactivated") {
    sentences.push(
      "When the receiver works again, resume the webhook: pending events are sent, and a replay sends those since then. If it is not needed any more, delete it.",
    );
  }
  if (failed > 0) {
    sentences.push(
      `${formatCount(failed)} ${failed === 1 ? "was" : "were"} given up: ${isInactive ? "resume the webhook, then retry." : "a retry sends them once more."}`,
    );
  }
  return sentences.length > 0 && <p className="health-advice">{sentences.join(" ")}</p>;
};

const LastReplay = ({ webhook }: { readonly webhook: Webhook }) => {
  const replay = useReplay(webhook.id).data;
  const mayWrite = useApi().may("webhooks.write");
  const edits = useWebhookEdits();
  if (replay == null) return null;
  const { state, replayed, pending, failed, startedAt } = replay;
  const delivered = Math.max(0, replayed - pending - failed);
  return (
    <p className="health-replay" role="status">
      {state === "running" ? "Replay" : "Last replay"} <Time at={startedAt} />:{" "}
      {formatNumber(replayed)} {replayed === 1 ? "event" : "events"}
      {state === "running" && " so far"}, {formatNumber(delivered)} delivered
      {pending > 0 && `, ${formatNumber(pending)} pending`}
      {failed > 0 && `, ${formatNumber(failed)} failed`}
      {state === "stopped" && "; stopped before its end"}.{" "}
      {state === "running" && mayWrite && (
        <Button size="compact-xs" variant="default" onClick={() => void edits.stopReplay(webhook)}>
          Stop replay
        </Button>
      )}
    </p>
  );
};

interface HealthDetailsProps {
  readonly webhook: Webhook;
  readonly health: DetailedWebhookHealth;
  readonly filter: DeliveryFilter;
}

export const HealthDetails = ({ webhook, health, filter }: HealthDetailsProps) => {
  const mayWrite = useApi().may("webhooks.write");
  const edits = useWebhookEdits();
  const mayRetry = mayWrite && webhook.active && health.retrying + health.failed > 0;
  return (
    <div className="health-details">
      <dl className="figures">
        <div>
          <dt>attempts succeeded, last hour</dt>
          <dd>{successOf(health.lastHour)}</dd>
        </div>
        <div>
          <dt>attempts succeeded, 24 hours</dt>
          <dd>{successOf(health.lastDay)}</dd>
        </div>
      </dl>
      <WhatToDo health={health} />
      {health.blocking.length > 0 && (
        <>
          <h2 className="health-heading">Retrying, oldest first</h2>
          <ul className="health-blocking" aria-label="Retrying">
            {health.blocking.map((blocking) => (
              <BlockingRow
                key={blocking.deliveryId}
                blocking={blocking}
                status={health.status}
                filter={filter}
              />
            ))}
          </ul>
        </>
      )}
      {mayRetry && (
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="rotate" size={14} />}
          onClick={() => void edits.retryAll(webhook)}
        >
          Retry all failed
        </Button>
      )}
      <LastReplay webhook={webhook} />
    </div>
  );
};
