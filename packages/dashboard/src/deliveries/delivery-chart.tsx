// The last deliveries of a webhook, a column each: how long the receiver took, and whether it accepted.
import type { Delivery } from "@halyard/sdk";
import { formatDate, formatNumber, formatPercent } from "../format.ts";
import { figuresOf } from "../webhooks/webhook-health.ts";
import { formatMilliseconds, isFailure, outcomeOf, stateWords } from "./delivery-labels.ts";

/** Of a column and of the whole height; the drawing is stretched to the page. */
const step = 10;
const height = 100;
/** So that a few columns are not broad as walls. */
const fewest = 40;

const wordsOf = (delivery: Delivery): string => {
  const { event, createdAt, attempts } = delivery;
  const last = attempts.at(-1);
  const outcome =
    last === undefined
      ? "not tried yet"
      : `${outcomeOf(last)} in ${formatMilliseconds(last.milliseconds)}`;
  return `${formatDate(createdAt)}, ${event.type}: ${stateWords(delivery)}, ${outcome}`;
};

/** An answer on the second attempt is worth seeing, too. */
const colourOf = ({ state, attempts }: Delivery): string => {
  if (state === "failed") return "failed";
  return attempts.some(isFailure) ? "again" : state;
};

const legend = [
  ["delivered", "delivered"],
  ["again", "tried again"],
  ["failed", "failed"],
] as const;

interface ColumnsProps {
  /** Oldest first. */
  readonly deliveries: readonly Delivery[];
  readonly summary: string;
}

const Columns = ({ deliveries, summary }: ColumnsProps) => {
  const times = deliveries.map(({ attempts }) => attempts.at(-1)?.milliseconds ?? 0);
  const highest = Math.max(10, ...times);
  const first = deliveries[0];
  const last = deliveries.at(-1);
  return (
    <div className="delivery-chart">
      <span className="delivery-chart-top dimmed">{formatMilliseconds(highest)}</span>
      <svg
        viewBox={`0 0 ${step * Math.max(fewest, deliveries.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {deliveries.map((delivery, index) => {
          const length = Math.max(2, ((times[index] ?? 0) / highest) * height);
          return (
            <g key={delivery.id} className="delivery-column" data-state={colourOf(delivery)}>
              <title>{wordsOf(delivery)}</title>
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
      <div className="delivery-chart-times dimmed">
        {first && formatDate(first.createdAt)}
        {last && deliveries.length > 1 && ` to ${formatDate(last.createdAt)}`}
      </div>
    </div>
  );
};

/** `deliveries` newest first, as the API gives them. */
export const DeliveryChart = ({ deliveries }: { readonly deliveries: readonly Delivery[] }) => {
  const { settled, delivered, medianMilliseconds, slowMilliseconds } = figuresOf(deliveries);
  if (medianMilliseconds === undefined || slowMilliseconds === undefined) return null;
  const share =
    settled === 0 ? "none is settled" : `${formatPercent((100 * delivered) / settled)} delivered`;
  const summary = `The last ${formatNumber(deliveries.length)} deliveries: ${share}, half of them answered within ${formatMilliseconds(medianMilliseconds)}`;
  return (
    <figure className="chart">
      <dl className="figures">
        <div>
          <dt>delivered</dt>
          <dd>
            {settled === 0 ? "–" : formatPercent(Math.floor((1_000 * delivered) / settled) / 10)}
          </dd>
        </div>
        <div>
          <dt>half within</dt>
          <dd>{formatMilliseconds(medianMilliseconds)}</dd>
        </div>
        <div>
          <dt>95 % within</dt>
          <dd>{formatMilliseconds(slowMilliseconds)}</dd>
        </div>
      </dl>
      <Columns deliveries={deliveries.toReversed()} summary={summary} />
      <figcaption className="chart-legend">
        <span>A column is a delivery, its height the time of the last attempt.</span>
        {legend.map(([state, word]) => (
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
            {word}
          </span>
        ))}
      </figcaption>
    </figure>
  );
};
