// How often each rule of a flag decided.
import type { Flag } from "@halyard/core/flags/registry";
import type { UsageHour } from "@halyard/sdk/management";
import { Table } from "@mantine/core";
import { formatNumber } from "../../format.ts";
import { formatShare, ownCount, sumOf } from "./usage-series.ts";

interface UsageByRuleProps {
  readonly flag: Flag;
  readonly hours: readonly UsageHour[];
  /** The time that the hours lie in, in words. */
  readonly time: string;
}

/** Nothing for a flag without rules. */
export const UsageByRule = ({ flag, hours, time }: UsageByRuleProps) => {
  const rules = flag.rules ?? [];
  const known = new Set(rules.map(({ id }) => id));
  const counted = new Set(hours.flatMap(({ rules: counts = {} }) => Object.keys(counts)).sort());
  const countOf = (id: string) => sumOf(hours, (hour) => hour.rules?.[id] ?? 0);
  const rows = [
    ...rules.map(({ id, disabled }) => ({ id, note: disabled === true ? "disabled" : "" })),
    ...[...counted].filter((id) => !known.has(id)).map((id) => ({ id, note: "removed" })),
  ].map((row) => ({ ...row, count: countOf(row.id) }));
  const whole = sumOf(hours, ownCount);
  if (rows.length === 0 || whole === 0) return null;
  const without = whole - rows.reduce((sum, { count }) => sum + count, 0);
  return (
    <Table className="usage-rules" captionSide="top">
      <Table.Caption>Decided by, in the last {time}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Rule</Table.Th>
          <Table.Th scope="col">Evaluations</Table.Th>
          <Table.Th scope="col">Share</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ id, note, count }) => (
          <Table.Tr key={id}>
            <Table.Th scope="row">
              <span className="mono">{id}</span> {note !== "" && `(${note})`}
            </Table.Th>
            <Table.Td>{formatNumber(count)}</Table.Td>
            <Table.Td>{formatShare(count, whole)}</Table.Td>
          </Table.Tr>
        ))}
        {without > 0 && (
          <Table.Tr>
            <Table.Th scope="row">No rule</Table.Th>
            <Table.Td>{formatNumber(without)}</Table.Td>
            <Table.Td>{formatShare(without, whole)}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  );
};
