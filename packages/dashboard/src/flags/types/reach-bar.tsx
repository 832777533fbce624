// How many users get the flag, drawn as a bar with its number.
import { type Flag, reachOf } from "@halyard/core/flags/registry";
import { formatPercent } from "../../format.ts";
import { hasSetting, reachWhenOn, rulesText, settingOf } from "../edit/flag-change.ts";

interface ReachBarProps {
  readonly flag: Flag;
  readonly size?: "small" | "large";
}

export const ReachBar = ({ flag, size = "small" }: ReachBarProps) => {
  const reach = reachOf(flag) / 1_000;
  const hasMembers = hasSetting(flag);
  const set = hasMembers ? reachWhenOn(flag) / 1_000 : reach;
  const rules = rulesText(flag);
  const label = rules ?? (hasMembers ? formatPercent(set) : flag.enabled ? "everyone" : "nobody");
  return (
    <div className="reach-bar" data-size={size} data-on={flag.enabled || undefined}>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={settingOf(flag)}>
        <rect className="reach-bar-all" width="100" height="4" />
        <rect className="reach-bar-set" width={set} height="4" />
        <rect className="reach-bar-reach" width={reach} height="4" />
      </svg>
      <span className="reach-bar-number" aria-hidden="true">
        {label}
      </span>
    </div>
  );
};
