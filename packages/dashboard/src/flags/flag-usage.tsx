// How often the flag is evaluated, over time.
import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { valueOrThrow } from "../api.ts";
import { BarChart } from "../components/display/bar-chart.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ChartSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { formatDate, formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { barsOf, type Span } from "./usage-bars.ts";

const day: Span = { label: "24 hours", hours: 24, perBar: 1, each: "an hour" };
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

export const FlagUsageChart = ({ flagKey }: { readonly flagKey: string }) => {
  const { management, environment } = useApi();
  const [span, setSpan] = useState(day);
  const { hours } = span;
  const query = useQuery({
    queryKey: [environment.name, "flag", flagKey, "usage", hours],
    queryFn: async () => valueOrThrow(await management.flags.usage(flagKey, { hours })),
    refetchInterval: refetchEvery,
  });
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
            {formatNumber(on + off)} in {span.label}
            {on + off > 0 && `: ${formatNumber(on)} on, ${formatNumber(off)} off`}.{" "}
            {together > 0 &&
              `Requested ${formatNumber(together)} ${together === 1 ? "time" : "times"} with all other flags. `}
            {usage.lastEvaluatedAt === null ? (
              "Not evaluated alone in 90 days."
            ) : (
              <>
                Last <Time at={usage.lastEvaluatedAt} />.
              </>
            )}
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
