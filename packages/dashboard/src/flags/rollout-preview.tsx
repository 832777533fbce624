// Who gets the flag: targeting keys in, an answer for each out, computed here as every program computes it.
import { bucketOf, type RolloutFlag } from "@halyard/sdk";
import { Table, Textarea } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Section } from "../components/layout/section.tsx";
import { formatNumber, formatPercent } from "../format.ts";
import { reachOf } from "./edit/flag-change.ts";

const most = 1_000;

export const RolloutPreview = ({ flag }: { readonly flag: RolloutFlag }) => {
  const [text, setText] = useState("");
  const deferred = useDeferredValue(text);
  const keys = useMemo(
    () => [...new Set(deferred.split("\n").map((line) => line.trim()))].filter(Boolean),
    [deferred],
  );
  const reach = reachOf(flag);
  const answers = useMemo(
    () => keys.slice(0, most).map((key) => ({ key, from: bucketOf(flag.key, key) })),
    [keys, flag.key],
  );
  const inside = answers.filter(({ from }) => from <= reach).length;
  return (
    <Section title="Who is in">
      <Textarea
        label="Targeting keys, one a line"
        description="What your programs send as targetingKey, such as user ids. They stay on this page."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        placeholder={"user-7\nuser-8"}
        autosize
        minRows={3}
        maxRows={10}
        spellCheck={false}
        classNames={{ input: "mono" }}
      />
      {answers.length > 0 && (
        <>
          <p role="status">
            {formatNumber(inside)} of {formatNumber(answers.length)} are in
            {flag.enabled ? "." : ": the flag is off."}
            {keys.length > most && ` Only the first ${formatNumber(most)} are shown.`}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className="who-results" aria-label="In or out" tabIndex={0}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Targeting key</Table.Th>
                  <Table.Th scope="col">Now</Table.Th>
                  <Table.Th scope="col">In from</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {answers.map(({ key, from }) => (
                  <Table.Tr key={key}>
                    <Table.Td className="mono">{key}</Table.Td>
                    <Table.Td>
                      <StatusBadge tone={from <= reach ? "good" : "quiet"}>
                        {from <= reach ? "in" : "out"}
                      </StatusBadge>
                    </Table.Td>
                    <Table.Td>{formatPercent(from / 1_000)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        </>
      )}
    </Section>
  );
};
