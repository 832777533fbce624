// Somebody else changed the flag first: both versions side by side, and what saving ours would do.
import { changeableMembers } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { Table } from "@mantine/core";
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

export const Conflict = ({ theirs, theirVersion, mine }: ConflictProps) => (
  <>
    <p className="confirm-sentence">
      Somebody else changed <strong className="mono">{theirs.key}</strong> while you were editing
      it. Your change is not saved yet.
    </p>
    <div className="scrolls">
      <Table withTableBorder aria-label="Both versions side by side">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Field</Table.Th>
            <Table.Th scope="col">Theirs (version {theirVersion})</Table.Th>
            <Table.Th scope="col">With your change</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changeableMembers(theirs.type)
            .filter(
              (member) =>
                isInTable(member) &&
                [theirs, mine].some((flag) => memberText(flag, member) !== undefined),
            )
            .map((member) => {
              const theirText = memberText(theirs, member) ?? "none";
              const myText = memberText(mine, member) ?? "none";
              return (
                <Table.Tr key={member} data-differs={theirText !== myText || undefined}>
                  <Table.Th scope="row">{member}</Table.Th>
                  <Table.Td>{theirText}</Table.Td>
                  <Table.Td>{theirText === myText ? myText : <strong>{myText}</strong>}</Table.Td>
                </Table.Tr>
              );
            })}
        </Table.Tbody>
      </Table>
    </div>
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
