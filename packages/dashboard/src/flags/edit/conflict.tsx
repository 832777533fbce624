// Somebody else changed the flag first: both versions side by side, and what saving ours would do.
import { changeableMembers } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { BothVersions } from "../../components/display/both-versions.tsx";
import { Difference, isSameTargeting } from "./difference.tsx";
import { memberText, summaryOf } from "./flag-change.ts";

interface ConflictProps {
  readonly theirs: Flag;
  readonly theirVersion: number;
  /** Theirs with our change applied. */
  readonly mine: Flag;
}

/** Rules and requirements are told one by one, below the table. */
const isInTable = (member: string): boolean => member !== "rules" && member !== "requires";

const rowsOf = (theirs: Flag, mine: Flag) =>
  changeableMembers(theirs.type)
    .filter(isInTable)
    .map((member) => [member, memberText(theirs, member), memberText(mine, member)] as const)
    .filter(([, theirText, myText]) => theirText !== undefined || myText !== undefined)
    .map(([member, theirText, myText]) => [member, theirText ?? "none", myText ?? "none"] as const);

export const Conflict = ({ theirs, theirVersion, mine }: ConflictProps) => (
  <>
    <BothVersions of={theirs.key} theirVersion={theirVersion} rows={rowsOf(theirs, mine)} />
    {!isSameTargeting(theirs, mine) && (
      <>
        <p className="confirm-sentence">What your change does to theirs:</p>
        <Difference before={theirs} after={mine} />
      </>
    )}
    {summaryOf(theirs, mine).map((sentence) => (
      <p key={sentence} className="confirm-sentence">
        {sentence}
      </p>
    ))}
  </>
);
