// Marks the webhooks in the navigation when one of them fails.
import "../styles/failing-mark.css";
import { useHealth } from "./webhook-queries.ts";

const refetchEvery = 15_000;

export const FailingMark = () => {
  const health = useHealth(refetchEvery);
  const failing = health.data?.filter(({ status }) => status === "failing").length ?? 0;
  if (failing === 0) return null;
  return (
    <span className="shell-mark">
      {failing}
      <span className="visually-hidden"> failing</span>
    </span>
  );
};
