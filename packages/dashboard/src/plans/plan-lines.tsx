// The changes of a plan, each with what it changes: the first of many, the rest on request.
import { memberOf } from "@halyard/core/difference";
import type { Change } from "@halyard/core/plan/plan";
import { Button } from "@mantine/core";
import { useState } from "react";
import { StatusBadge, type Tone } from "../components/display/status-badge.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { formatNumber } from "../format.ts";
import { SegmentDiff } from "./segment-diff.tsx";

interface PlanLinesProps {
  readonly changes: readonly Change[];
  /** Flags that cannot be changed, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

const badges: Readonly<Record<Change["kind"], readonly [Tone, string]>> = {
  create: ["good", "new"],
  update: ["quiet", "changed"],
  delete: ["bad", "deleted"],
  retype: ["waiting", "not possible"],
};

const Difference = ({ change }: { readonly change: Change }) => {
  if (change.of === "segment") {
    const { before, after } =
      change.kind === "update"
        ? change
        : change.kind === "create"
          ? { before: null, after: change.segment }
          : { before: change.segment, after: null };
    return <SegmentDiff before={before} after={after} />;
  }
  switch (change.kind) {
    case "create":
      return <FlagDiff before={null} after={change.flag} />;
    case "delete":
      return <FlagDiff before={change.flag} after={null} />;
    case "update":
      return <FlagDiff before={change.before} after={change.after} />;
    case "retype": {
      const [there, here] = [change.before, change.after].map((flag) => {
        const value = memberOf(flag, change.member);
        return typeof value === "string" ? value : "none";
      });
      return (
        <p className="plan-reason">
          Its {change.member} is {there} there and {here} here, and is fixed at creation. Delete the
          flag there first, or rename it here.
        </p>
      );
    }
  }
};

const shownAtOnce = 50;

export const PlanLines = ({ changes, refused }: PlanLinesProps) => {
  const [limit, setLimit] = useState(shownAtOnce);
  const hidden = changes.length - limit;
  return (
    <>
      <ul className="plan-lines" aria-label="Changes">
        {changes.slice(0, limit).map((change) => {
          const reason = change.of === "flag" ? refused.get(change.key) : undefined;
          const [tone, label] = badges[reason === undefined ? change.kind : "retype"];
          return (
            <li key={`${change.of} ${change.key}`}>
              <div className="plan-line-head">
                <StatusBadge tone={tone}>{label}</StatusBadge>
                <span>
                  {change.of === "segment" && "segment "}
                  <strong className="mono">{change.key}</strong>
                </span>
              </div>
              {reason === undefined ? (
                <Difference change={change} />
              ) : (
                <p className="plan-reason">{reason}</p>
              )}
            </li>
          );
        })}
      </ul>
      {hidden > 0 && (
        <Button mt="sm" variant="default" onClick={() => setLimit(limit * 2)}>
          Show more ({formatNumber(hidden)} are not shown)
        </Button>
      )}
    </>
  );
};
