// How many users get the flag, drawn as a bar with its number.
import type { Flag } from "@halyard/sdk";
import { formatPercent } from "../format.ts";
import { reachOf, settingOf } from "./edit/flag-change.ts";

interface RolloutBarProps {
  readonly flag: Flag;
  readonly size?: "small" | "large";
}

export const RolloutBar = ({ flag, size = "small" }: RolloutBarProps) => {
  const set = flag.type === "boolean" ? (flag.enabled ? 100 : 0) : flag.percentage;
  const reach = reachOf(flag) / 1_000;
  return (
    <div className="rollout-bar" data-size={size} data-on={flag.enabled || undefined}>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={settingOf(flag)}>
        <rect className="rollout-bar-all" width="100" height="4" />
        <rect className="rollout-bar-set" width={set} height="4" />
        <rect className="rollout-bar-reach" width={reach} height="4" />
      </svg>
      <span className="rollout-bar-number" aria-hidden="true">
        {flag.type === "boolean" ? (flag.enabled ? "everyone" : "nobody") : formatPercent(set)}
      </span>
    </div>
  );
};
