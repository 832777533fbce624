// Which targeting keys a rollout includes, computed here exactly as every SDK computes it.

import { bucketOf } from "@halyard/core/bucket";
import { reachOf } from "@halyard/core/flags/registry";
import type { RolloutFlag } from "@halyard/core/flags/rollout";
import { Table, Textarea } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { Section } from "../../components/layout/section.tsx";
import { formatNumber, formatPercent } from "../../format.ts";

const maxKeys = 1_000;

export const RolloutPreview = ({ flag }: { readonly flag: RolloutFlag }) => {
  const [text, setText] = useState("");
  const deferred = useDeferredValue(text);
  const keys = useMemo(
    () => [...new Set(deferred.split("\n").map((line) => line.trim()))].filter(Boolean),
    [deferred],
  );
  const reach = reachOf(flag);
  const results = useMemo(
    () => keys.slice(0, maxKeys).map((key) => ({ key, from: bucketOf(flag.key, key) })),
    [keys, flag.key],
  );
  const included = results.filter(({ from }) => from <= reach).length;
  return (
    <Section title="Rollout preview">
      <Textarea
        label="Targeting keys, one per line"
        description="What your code passes as targetingKey, such as user IDs. They do not leave this page."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        placeholder={"user-7\nuser-8"}
        autosize
        minRows={3}
        maxRows={10}
        spellCheck={false}
        classNames={{ input: "mono" }}
      />
      {results.length > 0 && (
        <>
          <p role="status">
            {formatNumber(included)} of {formatNumber(results.length)} are included
            {flag.enabled ? "." : ": the flag is off."}
            {keys.length > maxKeys && ` Only the first ${formatNumber(maxKeys)} are shown.`}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className="preview-results" aria-label="Included or not" tabIndex={0}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Targeting key</Table.Th>
                  <Table.Th scope="col">Now</Table.Th>
                  <Table.Th scope="col">Included from</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {results.map(({ key, from }) => (
                  <Table.Tr key={key}>
                    <Table.Td className="mono">{key}</Table.Td>
                    <Table.Td>
                      <StatusBadge tone={from <= reach ? "good" : "quiet"}>
                        {from <= reach ? "included" : "not included"}
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
