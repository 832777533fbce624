// How often the flag is evaluated, over time.
import type { Flag } from "@halyard/core/flags/registry";
import type { FlagUsage, UsageHour } from "@halyard/sdk/management";
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { BarChart } from "../../components/display/bar-chart.tsx";
import { Time } from "../../components/display/time.tsx";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { ChartSkeleton } from "../../components/feedback/skeletons.tsx";
import { Section } from "../../components/layout/section.tsx";
import { formatDate, formatNumber } from "../../format.ts";
import { barsOf, type Span } from "./usage-bars.ts";
import { UsageByRule } from "./usage-by-rule.tsx";
import { ownCount, seriesOf, sumOf, together, type UsageSeries } from "./usage-series.ts";
import { dayInHours, lastEvaluation, useFlagUsage } from "./use-flag-usage.ts";

const day: Span = { label: "24 hours", hours: dayInHours, perBar: 1, each: "an hour" };
const spans: readonly Span[] = [
  day,
  { label: "7 days", hours: 168, perBar: 6, each: "in 6 hours" },
  { label: "30 days", hours: 720, perBar: 24, each: "a day" },
];
const refetchEvery = 15_000;
const hour = 60 * 60 * 1_000;

/** As the chart counts. */
const countOf = (
  hours: readonly UsageHour[],
  own: readonly UsageSeries[],
  { label }: Span,
): string => {
  const [alone, asked] = [sumOf(hours, ownCount), sumOf(hours, together.countIn)];
  const all = alone + asked;
  if (all === 0) return `No evaluations in the last ${label}.`;
  const parts = [
    ...(alone > 0
      ? own.map(({ name, countIn }) => `${formatNumber(sumOf(hours, countIn))} ${name}`)
      : []),
    ...(asked > 0 ? [`${formatNumber(asked)} in requests for all flags`] : []),
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
  { lastAskedTogetherAt, hours: counted }: FlagUsage,
  { hours }: Span,
): boolean =>
  sumOf(counted, together.countIn) === 0 &&
  lastAskedTogetherAt !== null &&
  Date.now() - Date.parse(lastAskedTogetherAt) < (hours - 1) * hour;

export const FlagUsageChart = ({ flag }: { readonly flag: Flag }) => {
  const [span, setSpan] = useState(day);
  const query = useFlagUsage(flag.key, span.hours, () => refetchEvery);
  const usage = query.data;
  const hours = usage?.hours ?? [];
  const own = seriesOf(flag, hours);
  const series = [...own, together];
  const counts = series.map(
    ({ name, countIn }) => `${formatNumber(sumOf(hours, countIn))} ${name}`,
  );
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
            {countOf(hours, own, span)} <Last usage={usage} />
            {isUncounted(usage, span) &&
              " Requests for all flags are counted from the first full hour after the flag's creation."}
          </p>
          {hours.length > 0 && (
            <BarChart
              summary={`Evaluations in the last ${span.label}: ${counts.join(", ")}`}
              unit={[`evaluation ${span.each}`, `evaluations ${span.each}`]}
              series={series}
              bars={barsOf(hours, series, span, Date.now(), formatDate)}
            />
          )}
          <UsageByRule flag={flag} hours={hours} time={span.label} />
        </>
      )}
    </Section>
  );
};
