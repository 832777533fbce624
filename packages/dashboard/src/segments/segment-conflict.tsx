// Somebody else changed the segment first: both versions side by side.
import type { SegmentPatch } from "@halyard/sdk";
import { Table } from "@mantine/core";
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
  return (
    <>
      <p className="confirm-sentence">
        Somebody else changed <strong className="mono">{segment.key}</strong> while you were editing
        it. Your change is not saved yet.
      </p>
      <div className="scrolls">
        <Table withTableBorder aria-label="Both versions side by side">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Field</Table.Th>
              <Table.Th scope="col">Theirs (version {version})</Table.Th>
              <Table.Th scope="col">With your change</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([field, theirText, myText]) => (
              <Table.Tr key={field} data-differs={theirText !== myText || undefined}>
                <Table.Th scope="row">{field}</Table.Th>
                <Table.Td>{theirText}</Table.Td>
                <Table.Td>{theirText === myText ? myText : <strong>{myText}</strong>}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
};
