// When a pending delivery is attempted, or what it waits for.
import type { Delivery, Webhook } from "@halyard/sdk";
import { Link, useLocation } from "wouter";
import { Upcoming } from "../components/display/time.tsx";
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
  if (!webhook.active) return "none while the webhook is paused";
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
  const due =
    health?.status === "failing"
      ? "soon: the receiver fails, so requests are sent one at a time"
      : "as soon as the receiver has taken what is ahead of it";
  return <Upcoming at={nextAttemptAt} otherwise={due} />;
};
