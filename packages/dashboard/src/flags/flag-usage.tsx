// How often the flag is evaluated, over time.

import type { FlagUsage } from "@halyard/sdk";
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { BarChart } from "../components/display/bar-chart.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ChartSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { formatDate, formatNumber } from "../format.ts";
import { barsOf, type Span } from "./usage-bars.ts";
import { dayInHours, lastEvaluation, useFlagUsage } from "./use-flag-usage.ts";

const day: Span = { label: "24 hours", hours: dayInHours, perBar: 1, each: "an hour" };
const spans: readonly Span[] = [
  day,
  { label: "7 days", hours: 168, perBar: 6, each: "in 6 hours" },
  { label: "30 days", hours: 720, perBar: 24, each: "a day" },
];
const series = [
  { name: "on", color: "var(--halyard-on)" },
  { name: "off", color: "var(--halyard-off)" },
  { name: "with all flags", color: "var(--mantine-color-blue-4)" },
];
const refetchEvery = 15_000;
const hour = 60 * 60 * 1_000;

/** As the chart counts. */
const countOf = (on: number, off: number, together: number, { label }: Span): string => {
  const all = on + off + together;
  if (all === 0) return `No evaluations in the last ${label}.`;
  const parts = [
    ...(on + off > 0 ? [`${formatNumber(on)} on`, `${formatNumber(off)} off`] : []),
    ...(together > 0 ? [`${formatNumber(together)} in requests for all flags`] : []),
  ];
  const word = all === 1 ? "evaluation" : "evaluations";
  return `${formatNumber(all)} ${word} in the last ${label}: ${parts.join(", ")}.`;
};

const Last = ({ usage }: { readonly usage: FlagUsage }) => {
  const last = lastEvaluation(usage);
  if (last === undefined) return "No evaluation is on record. Records are kept for 90 days.";
  return (
    <>
      Last evaluated: <Time at={last} />.
    </>
  );
};

/** In the hour in which the flag was created. */
const isUncounted = (
  { lastAskedTogetherAt }: FlagUsage,
  together: number,
  { hours }: Span,
): boolean =>
  together === 0 &&
  lastAskedTogetherAt !== null &&
  Date.now() - Date.parse(lastAskedTogetherAt) < (hours - 1) * hour;

export const FlagUsageChart = ({ flagKey }: { readonly flagKey: string }) => {
  const [span, setSpan] = useState(day);
  const query = useFlagUsage(flagKey, span.hours, () => refetchEvery);
  const usage = query.data;
  const on = usage?.hours.reduce((sum, each) => sum + each.on, 0) ?? 0;
  const off = usage?.hours.reduce((sum, each) => sum + each.off, 0) ?? 0;
  const together = usage?.hours.reduce((sum, each) => sum + each.together, 0) ?? 0;
  return (
    <Section
      title="Evaluations"
      aside={
        <SegmentedControl
          size="xs"
          aria-label="Time shown"
          data={spans.map(({ label }) => label)}
          value={span.label}
          onChange={(label) => setSpan(spans.find((each) => each.label === label) ?? day)}
        />
      }
    >
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <ChartSkeleton />}
      {usage !== undefined && (
        <>
          <p className="dimmed">
            {countOf(on, off, together, span)} <Last usage={usage} />
            {isUncounted(usage, together, span) &&
              " Requests for all flags are counted from the first full hour after the flag's creation."}
          </p>
          {on + off + together > 0 && (
            <BarChart
              summary={`Evaluations in the last ${span.label}: ${formatNumber(on)} on, ${formatNumber(off)} off, ${formatNumber(together)} with all flags`}
              unit={[`evaluation ${span.each}`, `evaluations ${span.each}`]}
              series={series}
              bars={barsOf(usage.hours, span, Date.now(), formatDate)}
            />
          )}
        </>
      )}
    </Section>
  );
};
