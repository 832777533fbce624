// Stacked bars over time, drawn as SVG, with the same numbers as a table for screen readers.
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
}

interface BarChartProps {
  /** One sentence that says what the chart shows. */
  readonly summary: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
}

const width = 720;
const height = 150;
const left = 44;
const bottom = 20;

export const BarChart = ({ summary, series, bars }: BarChartProps) => {
  const total = ({ values }: Bar) => values.reduce((sum, value) => sum + value, 0);
  const highest = Math.max(1, ...bars.map(total));
  const step = (width - left) / Math.max(1, bars.length);
  const scale = (height - bottom - 8) / highest;
  const base = height - bottom;
  const first = bars[0];
  const last = bars.at(-1);
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary}>
        <line className="chart-line" x1={left} x2={width} y1={base} y2={base} />
        <line className="chart-line" x1={left} x2={width} y1={8} y2={8} strokeDasharray="2 4" />
        <text className="chart-text" x={left - 6} y={12} textAnchor="end">
          {formatCompact(highest)}
        </text>
        <text className="chart-text" x={left - 6} y={base} textAnchor="end">
          0
        </text>
        {bars.map((bar, index) => {
          let top = base;
          return (
            <g key={bar.label}>
              <title>
                {`${bar.label}: ${series.map(({ name }, at) => `${formatNumber(bar.values[at] ?? 0)} ${name}`).join(", ")}`}
              </title>
              <rect
                className="chart-target"
                x={left + index * step}
                y={8}
                width={step}
                height={base - 8}
              />
              {series.map(({ name, color }, at) => {
                const length = (bar.values[at] ?? 0) * scale;
                top -= length;
                return (
                  <rect
                    key={name}
                    x={left + index * step + step * 0.12}
                    y={top}
                    width={step * 0.76}
                    height={length}
                    fill={color}
                  />
                );
              })}
            </g>
          );
        })}
        <text className="chart-text" x={left} y={height - 4}>
          {first?.label}
        </text>
        <text className="chart-text" x={width} y={height - 4} textAnchor="end">
          {last?.label}
        </text>
      </svg>
      <figcaption className="chart-legend">
        {series.map(({ name, color }) => (
          <span key={name}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={color} />
            </svg>
            {name}
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
