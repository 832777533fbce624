// Stacked bars over time, drawn as SVG, with the same numbers as a table for screen readers.
import { Fragment, useId } from "react";
import { formatCompact, formatNumber } from "../../format.ts";

export interface Bar {
  /** What the bar represents, such as an hour. */
  readonly label: string;
  /** One for each series, in the same order. */
  readonly values: readonly number[];
}

export interface Series {
  readonly name: string;
  /** A CSS color. */
  readonly color: string;
  /** Told apart from its neighbours by more than the color. */
  readonly isStriped?: boolean;
  /** Beside the name in the legend. */
  readonly note?: string;
}

interface BarChartProps {
  /** One sentence that says what the chart shows. */
  readonly summary: string;
  /** What is counted, in the singular and the plural. */
  readonly unit: readonly [one: string, several: string];
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
}

/** Of the drawing, which is stretched to the width there is; what is written stays outside, in its own size. */
const height = 100;

export const BarChart = ({ summary, unit, series, bars }: BarChartProps) => {
  const total = ({ values }: Bar) => values.reduce((sum, value) => sum + value, 0);
  const highest = Math.max(1, ...bars.map(total));
  const scale = height / highest;
  const stripes = useId();
  /** Then a gap shows where one ends and the next begins. */
  const part = series.some(({ isStriped }) => isStriped === true) ? "chart-part" : undefined;
  return (
    <figure className="chart">
      <div className="chart-label" aria-hidden="true">
        {formatCompact(highest)} {highest === 1 ? unit[0] : unit[1]}
      </div>
      <svg
        className="chart-plot"
        viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {part !== undefined && (
          // Lines across, as only the height is not stretched.
          <pattern id={stripes} width={1} height={5} patternUnits="userSpaceOnUse">
            <rect className="chart-stripe" width={1} height={1.4} />
          </pattern>
        )}
        {bars.map((bar, index) => {
          let top = height;
          return (
            <g key={bar.label}>
              <title>
                {`${bar.label}: ${series.map(({ name }, at) => `${formatNumber(bar.values[at] ?? 0)} ${name}`).join(", ")}`}
              </title>
              <rect className="chart-target" x={index} width={1} height={height} />
              {series.map(({ name, color, isStriped }, at) => {
                const length = (bar.values[at] ?? 0) * scale;
                top -= length;
                const place = { x: index + 0.12, y: top, width: 0.76, height: length };
                return (
                  <Fragment key={name}>
                    <rect className={part} {...place} fill={color} />
                    {isStriped === true && <rect {...place} fill={`url(#${stripes})`} />}
                  </Fragment>
                );
              })}
            </g>
          );
        })}
      </svg>
      <div className="chart-label chart-ends" aria-hidden="true">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <figcaption className="chart-legend">
        {series.map(({ name, color, isStriped, note }) => (
          <span key={name}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={color} />
              {isStriped === true && (
                <path className="chart-stripe" d="M0 2.5h10v1.2h-10zM0 6.3h10v1.2h-10z" />
              )}
            </svg>
            {name}
            {note !== undefined && <strong>{note}</strong>}
          </span>
        ))}
      </figcaption>
      <div className="visually-hidden">
        <table>
          <caption>{summary}</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars
              .filter((bar) => total(bar) > 0)
              .map((bar) => (
                <tr key={bar.label}>
                  <th scope="row">{bar.label}</th>
                  {series.map(({ name }, at) => (
                    <td key={name}>{formatNumber(bar.values[at] ?? 0)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
};
