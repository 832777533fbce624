// Somebody else changed the flag first: both versions side by side, and what applying ours on top would do.
import type { Flag } from "@halyard/sdk";
import { Table } from "@mantine/core";
import { formatPercent } from "../../format.ts";
import { summaryOf } from "./flag-change.ts";

interface ConflictProps {
  readonly theirs: Flag;
  readonly theirVersion: number;
  /** Theirs with our change on top. */
  readonly mine: Flag;
}

const rowsOf = (theirs: Flag, mine: Flag) => [
  ["State", theirs.enabled ? "on" : "off", mine.enabled ? "on" : "off"],
  ...(theirs.type === "rollout" && mine.type === "rollout"
    ? [["Rollout", formatPercent(theirs.percentage), formatPercent(mine.percentage)]]
    : []),
  ["Description", theirs.description ?? "none", mine.description ?? "none"],
];

export const Conflict = ({ theirs, theirVersion, mine }: ConflictProps) => (
  <>
    <p className="confirm-sentence">
      Somebody changed <strong className="mono">{theirs.key}</strong> while you were at it. Nothing
      of yours was saved yet.
    </p>
    <div className="scrolls">
      <Table withTableBorder aria-label="Both versions side by side">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Field</Table.Th>
            <Table.Th scope="col">Theirs (version {theirVersion})</Table.Th>
            <Table.Th scope="col">Yours on top</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rowsOf(theirs, mine).map(([field = "", theirText, myText]) => (
            <Table.Tr key={field} data-differs={theirText !== myText || undefined}>
              <Table.Th scope="row">{field}</Table.Th>
              <Table.Td>{theirText}</Table.Td>
              <Table.Td>{theirText === myText ? myText : <strong>{myText}</strong>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
    {summaryOf(theirs, mine).map((sentence) => (
      <p key={sentence} className="confirm-sentence">
        {sentence}
      </p>
    ))}
  </>
);
