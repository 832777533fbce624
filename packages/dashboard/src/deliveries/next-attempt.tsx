// When a pending delivery is attempted, or what it waits for.
import type { Delivery, Webhook } from "@halyard/sdk/management";
import { Link, useLocation } from "wouter";
import { Upcoming } from "../components/display/time.tsx";
import { dueText } from "../webhooks/webhook-health.ts";
import { useHealthOf } from "../webhooks/webhook-queries.ts";
import { type DeliveryFilter, hrefOf } from "./delivery-filter.ts";

interface NextAttemptProps {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
  readonly filter: DeliveryFilter;
}

export const NextAttempt = ({ webhook, delivery, filter }: NextAttemptProps) => {
  const [path] = useLocation();
  const health = useHealthOf(webhook.id).data;
  const { behind, nextAttemptAt } = delivery;
  if (!webhook.active) return "none until the webhook is resumed";
  if (behind !== null) {
    return (
      <>
        after{" "}
        <Link href={hrefOf(path, { ...filter, opened: behind })}>
          an earlier event of the same flag
        </Link>
      </>
    );
  }
  if (nextAttemptAt === null) return "now";
  return <Upcoming at={nextAttemptAt} otherwise={dueText(health?.status)} />;
};
