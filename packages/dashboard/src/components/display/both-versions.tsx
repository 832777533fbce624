// Somebody else was first: their version and ours side by side, field by field.
import { Table } from "@mantine/core";

interface BothVersionsProps {
  /** The key of what both changed. */
  readonly of: string;
  readonly theirVersion: number;
  readonly rows: readonly (readonly [field: string, theirs: string, mine: string])[];
}

export const BothVersions = ({ of, theirVersion, rows }: BothVersionsProps) => (
  <>
    <p className="confirm-sentence">
      <strong className="mono">{of}</strong> changed while you were editing it. Your change is not
      saved yet.
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
          {rows.map(([field, theirs, mine]) => (
            <Table.Tr key={field} data-differs={theirs !== mine || undefined}>
              <Table.Th scope="row">{field}</Table.Th>
              <Table.Td>{theirs}</Table.Td>
              <Table.Td>{theirs === mine ? mine : <strong>{mine}</strong>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  </>
);
