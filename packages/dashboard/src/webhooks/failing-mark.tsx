// Marks the webhooks in the navigation when one of them fails, or failed until Halyard deactivated it.
import "../styles/parts/failing-mark.css";
import { useHealth } from "./webhook-queries.ts";

const refetchEvery = 15_000;

export const FailingMark = () => {
  const health = useHealth(refetchEvery);
  const countOf = (wanted: string) =>
    health.data?.filter(({ status }) => status === wanted).length ?? 0;
  const failing = countOf("failing");
  const deactivated = countOf("deactivated");
  if (failing + deactivated === 0) return null;
  return (
    <span className="shell-mark">
      {failing + deactivated}
      <span className="visually-hidden">
        {deactivated === 0 ? " failing" : " failing or deactivated"}
      </span>
    </span>
  );
};
