// A chart of the last deliveries of a webhook: duration and outcome, one column each.
import type { Delivery } from "@halyard/sdk/management";
import { useMediaQuery } from "@mantine/hooks";
import { formatDate, formatNumber } from "../format.ts";
import { durationsOf } from "../webhooks/webhook-health.ts";
import { formatMilliseconds, isFailure, outcomeOf, stateLabel } from "./delivery-labels.ts";

/** In units of the drawing, which is stretched to the width of the page. */
const step = 10;
const height = 100;
/** On a narrow screen fewer columns, wide enough to be told apart. */
const narrow = "(max-width: 47.99em)";
const mostOnNarrow = 30;
/** The chart leaves room for as many columns, so that a few do not get too wide. */
const minColumns = 40;

const titleOf = (delivery: Delivery): string => {
  const { event, createdAt, attempts } = delivery;
  const last = attempts.at(-1);
  const outcome =
    last === undefined
      ? "not attempted yet"
      : `${outcomeOf(last)} in ${formatMilliseconds(last.milliseconds)}`;
  return `${formatDate(createdAt)}, ${event.type}: ${stateLabel(delivery)}, ${outcome}`;
};

/** A delivery that needed a retry has its own color. */
const colorOf = ({ state, attempts }: Delivery): string => {
  if (state === "failed") return "failed";
  return attempts.some(isFailure) ? "retried" : state;
};

const legend = [
  ["delivered", "delivered"],
  ["retried", "retried"],
  ["failed", "failed"],
] as const;

interface ColumnsProps {
  /** Oldest first. */
  readonly deliveries: readonly Delivery[];
  readonly summary: string;
  /** Columns that there is room for. */
  readonly room: number;
}

const Columns = ({ deliveries, summary, room }: ColumnsProps) => {
  const times = deliveries.map(({ attempts }) => attempts.at(-1)?.milliseconds ?? 0);
  const highest = Math.max(10, ...times);
  const first = deliveries[0];
  const last = deliveries.at(-1);
  /** Otherwise the last column is far from the end that the time would stand at. */
  const isFull = deliveries.length > room / 2;
  return (
    <div className="delivery-chart">
      <div className="chart-label" aria-hidden="true">
        {formatMilliseconds(highest)}
      </div>
      <svg
        viewBox={`0 0 ${step * Math.max(room, deliveries.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {deliveries.map((delivery, index) => {
          const length = Math.max(2, ((times[index] ?? 0) / highest) * height);
          return (
            <g key={delivery.id} className="delivery-column" data-state={colorOf(delivery)}>
              <title>{titleOf(delivery)}</title>
              <rect
                className="delivery-column-back"
                x={index * step}
                width={step}
                height={height}
              />
              <rect
                className="delivery-column-time"
                x={index * step + step * 0.15}
                y={height - length}
                width={step * 0.7}
                height={length}
              />
            </g>
          );
        })}
      </svg>
      <div className="chart-label chart-ends" aria-hidden="true">
        <span>{first && formatDate(first.createdAt)}</span>
        <span>{last && isFull && formatDate(last.createdAt)}</span>
      </div>
    </div>
  );
};

/** `deliveries` newest first, as the API gives them; those that were never attempted are left out. */
export const DeliveryChart = ({ deliveries }: { readonly deliveries: readonly Delivery[] }) => {
  const isNarrow = useMediaQuery(narrow, matchMedia(narrow).matches);
  const attempted = deliveries
    .filter(({ attempts }) => attempts.length > 0)
    .slice(0, isNarrow ? mostOnNarrow : undefined);
  const durations = durationsOf(attempted);
  if (durations === undefined) return null;
  const period =
    attempted.length === 1 ? "last delivery" : `last ${formatNumber(attempted.length)} deliveries`;
  const summary = `The ${period}: p50 ${formatMilliseconds(durations.p50)}, p95 ${formatMilliseconds(durations.p95)}`;
  return (
    <figure className="chart">
      <dl className="figures">
        <div>
          <dt>p50, {period}</dt>
          <dd>{formatMilliseconds(durations.p50)}</dd>
        </div>
        <div>
          <dt>p95, {period}</dt>
          <dd>{formatMilliseconds(durations.p95)}</dd>
        </div>
      </dl>
      <Columns
        deliveries={attempted.toReversed()}
        summary={summary}
        room={isNarrow ? mostOnNarrow : minColumns}
      />
      <figcaption className="chart-legend">
        <span>Each column is a delivery. Its height is the duration of the last attempt.</span>
        {legend.map(([state, label]) => (
          <span key={state}>
            <svg
              width="10"
              height="10"
              aria-hidden="true"
              className="delivery-column"
              data-state={state}
            >
              <rect className="delivery-column-time" width="10" height="10" rx="2" />
            </svg>
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
};
