// Somebody else changed the segment first: both versions side by side.
import type { SegmentPatch } from "@halyard/sdk/management";
import { BothVersions } from "../components/display/both-versions.tsx";
import type { LiveSegment } from "../live.ts";
import { conditionText } from "./segment-words.ts";

/** What the page changes as a whole; the lists change in parts. */
export type AboutSegment = Pick<SegmentPatch, "description" | "when">;

interface SegmentConflictProps {
  readonly theirs: LiveSegment;
  /** Our change. */
  readonly mine: AboutSegment;
}

export const SegmentConflict = ({ theirs, mine }: SegmentConflictProps) => {
  const { segment, version } = theirs;
  const after = { ...segment, ...mine };
  const rows = [
    ["description", segment.description ?? "none", after.description ?? "none"],
    ["condition", conditionText(segment.when), conditionText(after.when)],
  ] as const;
  return <BothVersions of={segment.key} theirVersion={version} rows={rows} />;
};
