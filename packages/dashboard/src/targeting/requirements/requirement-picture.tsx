// The graph of a flag's requirements as a drawing, and the same as a list of links.
import type { Requirement } from "@halyard/core/targeting/targeting";
import { Anchor } from "@mantine/core";
import { useMemo } from "react";
import { Link } from "wouter";
import { useLiveState } from "../../live-provider.tsx";
import { type GraphNode, graphOf, requirementsOf, requiring } from "./requirement-graph.ts";

const width = 168;
const height = 34;
const betweenColumns = 84;
const betweenRows = 16;
const longestName = 19;

const shortName = (key: string): string =>
  key.length > longestName ? `${key.slice(0, longestName - 1)}…` : key;

interface PictureProps {
  readonly flagKey: string;
  /** As they are edited. */
  readonly requires: readonly Requirement[];
}

const Picture = ({ flagKey, requires }: PictureProps) => {
  const { byKey, flags } = useLiveState();
  const graph = useMemo(
    () => graphOf(byKey, flags, flagKey, requires),
    [byKey, flags, flagKey, requires],
  );
  const columns = graph.nodes.map(({ column }) => column);
  const first = Math.min(...columns);
  const last = Math.max(...columns);
  const rows = Math.max(...graph.nodes.map(({ row }) => row)) + 1;
  const at = ({ column, row }: GraphNode) => {
    const inColumn = columns.filter((each) => each === column).length;
    const free = (rows - inColumn) * (height + betweenRows);
    return {
      x: (column - first) * (width + betweenColumns),
      y: free / 2 + row * (height + betweenRows),
    };
  };
  const places = new Map(graph.nodes.map((node) => [node.key, at(node)]));
  const wide = (last - first) * (width + betweenColumns) + width;
  const high = rows * (height + betweenRows) - betweenRows;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scrolls requirement-graph" tabIndex={0} aria-label="Graph">
      <svg
        width={wide + 4}
        height={high + 4}
        viewBox={`-2 -2 ${wide + 4} ${high + 4}`}
        role="img"
        aria-label={`What ${flagKey} requires and what requires it, as in the list below`}
      >
        {graph.edges.map(({ from, to, variant }) => {
          const [start, end] = [places.get(from), places.get(to)];
          if (start === undefined || end === undefined) return null;
          const [x1, y1] = [start.x + width, start.y + height / 2];
          const [x2, y2] = [end.x, end.y + height / 2];
          const bend = Math.min(betweenColumns / 2, Math.abs(x2 - x1) / 2);
          return (
            <g key={`${from} ${to}`}>
              <path
                className="requirement-edge"
                d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 6} ${y2}`}
              />
              <path className="requirement-tip" d={`M${x2} ${y2}l-8 -4v8z`} />
              <text className="requirement-wanted" x={x2 - 12} y={y2 - 6} textAnchor="end">
                {shortName(variant)}
              </text>
            </g>
          );
        })}
        {graph.nodes.map((node) => {
          const { x, y } = places.get(node.key) ?? { x: 0, y: 0 };
          const found = byKey.get(node.key)?.flag;
          const state = found === undefined ? "missing" : found.enabled ? "on" : "off";
          return (
            <g
              key={node.key}
              className="requirement-node"
              data-own={node.key === flagKey || undefined}
              data-state={state}
            >
              <title>{`${node.key}, ${state}`}</title>
              <rect x={x} y={y} width={width} height={height} rx={6} />
              <text x={x + 10} y={y + height / 2} dominantBaseline="central">
                {shortName(node.key)}
              </text>
              <text
                x={x + width - 8}
                y={y + height / 2}
                dominantBaseline="central"
                textAnchor="end"
                className="requirement-state"
              >
                {state === "on" ? "" : state}
              </text>
            </g>
          );
        })}
      </svg>
      {graph.left > 0 && <p className="dimmed">{graph.left} more flags require it.</p>}
    </section>
  );
};

const FlagLink = ({ flagKey, variant }: { readonly flagKey: string; readonly variant: string }) => {
  const { byKey } = useLiveState();
  const found = byKey.get(flagKey)?.flag;
  return (
    <>
      <Anchor component={Link} href={`/flags/${encodeURIComponent(flagKey)}`} className="mono">
        {flagKey}
      </Anchor>{" "}
      <span className="dimmed">
        gives {variant}
        {found === undefined && ", which is missing"}
        {found?.enabled === false && ", which is off"}
      </span>
    </>
  );
};

interface TreeProps {
  readonly requires: readonly Requirement[];
  /** The flags on the way here: a circle ends. */
  readonly path: readonly string[];
}

const Tree = ({ requires, path }: TreeProps) => {
  const { byKey } = useLiveState();
  return (
    <ul className="requirement-tree">
      {requires.map(({ flag, variant }) => {
        const further = path.includes(flag) ? [] : requirementsOf(byKey, flag);
        return (
          <li key={`${flag} ${variant}`}>
            <FlagLink flagKey={flag} variant={variant} />
            {further.length > 0 && <Tree requires={further} path={[...path, flag]} />}
          </li>
        );
      })}
    </ul>
  );
};

/** Nothing when no flag is required and none requires it. */
export const RequirementPicture = ({ flagKey, requires }: PictureProps) => {
  const { flags } = useLiveState();
  const above = useMemo(() => requiring(flags, flagKey), [flags, flagKey]);
  if (requires.length === 0 && above.length === 0) return null;
  return (
    <>
      <Picture flagKey={flagKey} requires={requires} />
      {requires.length > 0 && (
        <>
          <h3 className="requirement-head">Given only where</h3>
          <Tree requires={requires} path={[flagKey]} />
        </>
      )}
      {above.length > 0 && (
        <>
          <h3 className="requirement-head">Required by</h3>
          <ul className="requirement-tree">
            {above.map(({ from, variant }) => (
              <li key={from}>
                <Anchor
                  component={Link}
                  href={`/flags/${encodeURIComponent(from)}`}
                  className="mono"
                >
                  {from}
                </Anchor>{" "}
                <span className="dimmed">needs {variant}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
};
