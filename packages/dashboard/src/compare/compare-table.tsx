// The matrix: a row for each flag or segment, a column for each environment. Only the rows in view are rendered.
import { NativeSelect } from "@mantine/core";
import { useElementSize, useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useLayoutEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { SelectRow } from "../components/selection/select-row.tsx";
import type { Selection } from "../components/selection/use-selection.ts";
import { formatNumber } from "../format.ts";
import { type Compared, cellOf, differs, type Row, type Value } from "./compare-rows.ts";

interface CompareTableProps {
  readonly kind: Compared;
  readonly rows: readonly Row[];
  /** All environments, the base first. */
  readonly environments: readonly string[];
  /** How many rows differ from the base, by environment. */
  readonly counts: ReadonlyMap<string, number>;
  readonly selection: Selection | undefined;
  /** Undefined when the base is fixed. */
  readonly onBase: ((name: string) => void) | undefined;
  readonly onOpen: (key: string, environment: string) => void;
}

const wideRow = 60;
const narrowRow = 112;
const narrow = "(max-width: 47.99em)";
const keyWidth = 230;
const columnWidth = 128;

interface CellProps {
  readonly name: string;
  readonly base: string;
  readonly value: Value | undefined;
  readonly isDifferent: boolean;
  readonly onOpen: () => void;
}

const Cell = ({ name, base, value, isDifferent, onOpen }: CellProps) => {
  const { state, given, rules } = value
    ? cellOf(value)
    : { state: "not there", given: "", rules: "" };
  return (
    <td className="compare-cell" data-differs={isDifferent || undefined}>
      <button type="button" onClick={onOpen}>
        <span className="visually-hidden">{name}: </span>
        <span className="compare-line">
          <span className="compare-state" data-state={value === undefined ? "none" : state}>
            {state}
          </span>{" "}
          {given}
        </span>
        <span className="compare-line compare-more">
          {isDifferent && (
            <strong>
              differs<span className="visually-hidden"> from {base}</span>
            </strong>
          )}
          {isDifferent && rules !== "" && ", "}
          {rules}
        </span>
      </button>
    </td>
  );
};

interface HeadProps {
  readonly name: string;
  readonly isBase: boolean;
  readonly count: number;
  /** To choose another environment for this column; none when all are shown. */
  readonly choices: readonly string[];
  readonly onChange: (name: string) => void;
}

const Head = ({ name, isBase, count, choices, onChange }: HeadProps) => (
  <th scope="col" className="compare-head">
    {choices.length > 1 ? (
      <NativeSelect
        size="xs"
        aria-label={isBase ? "Compare with" : "Environment"}
        data={[...choices]}
        value={name}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    ) : (
      <strong>{name}</strong>
    )}
    <span className="dimmed">{isBase ? "base" : `${formatNumber(count)} differ`}</span>
  </th>
);

/** The base and as many others as there is room for: those that were chosen, then the next. */
const columnsFor = (
  environments: readonly string[],
  room: number,
  chosen: readonly string[],
): readonly string[] => {
  const [base = "", ...others] = environments;
  const wanted = chosen.filter((name) => others.includes(name));
  const rest = others.filter((name) => !wanted.includes(name));
  const count = Math.max(room - 1, 1);
  return count >= others.length ? environments : [base, ...[...wanted, ...rest].slice(0, count)];
};

export const CompareTable = (props: CompareTableProps) => {
  const { kind, rows, environments, counts, selection, onBase, onOpen } = props;
  const { ref: sized, width } = useElementSize<HTMLTableElement>();
  const list = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const isNarrow = useMediaQuery(narrow, matchMedia(narrow).matches);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const room = isNarrow ? 2 : Math.floor((width - keyWidth) / columnWidth);
  const columns = columnsFor(environments, room, chosen);
  const [base = ""] = columns;
  const isPart = columns.length < environments.length;
  const rowHeight = isNarrow ? narrowRow : wideRow;
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: offset,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const choose = (index: number, name: string) => {
    if (index === 0) return onBase?.(name);
    const next = columns.slice(1);
    const other = next.indexOf(name);
    const now = next[index - 1] ?? "";
    setChosen(next.map((each, at) => (at === index - 1 ? name : at === other ? now : each)));
  };
  return (
    <table
      ref={sized}
      className="compare"
      aria-label={kind === "flag" ? "Flags by environment" : "Segments by environment"}
      aria-rowcount={rows.length + 1}
      style={{ "--columns": columns.length } as CSSProperties}
    >
      <thead className="compare-heads">
        <tr className="compare-row" aria-rowindex={1}>
          <th scope="col" className="compare-key">
            {kind === "flag" ? "Flag" : "Segment"}
          </th>
          {columns.map((name, index) => (
            <Head
              key={index === 0 ? "base" : name}
              name={name}
              isBase={index === 0}
              count={counts.get(name) ?? 0}
              choices={
                index === 0 ? (onBase ? environments : []) : isPart ? environments.slice(1) : []
              }
              onChange={(next) => choose(index, next)}
            />
          ))}
        </tr>
      </thead>
      <tbody className="compare-rows" ref={list} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start, key: rowKey }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const { key, values } = row;
          const value = values.get(base);
          return (
            <tr
              key={rowKey}
              className="compare-row"
              aria-rowindex={index + 2}
              data-selected={selection?.keys.has(key) || undefined}
              style={{ transform: `translateY(${start - offset}px)`, height: rowHeight }}
            >
              <th scope="row" className="compare-key">
                {selection && (
                  <SelectRow
                    label={`Select ${key}`}
                    checked={selection.keys.has(key)}
                    onToggle={(isRange) => selection.toggle(key, isRange)}
                  />
                )}
                {kind === "flag" ? (
                  <Link href={`/flags/${encodeURIComponent(key)}`} className="compare-link">
                    {key}
                  </Link>
                ) : (
                  <span className="compare-link">{key}</span>
                )}
              </th>
              {columns.map((name) => (
                <Cell
                  key={name}
                  name={name}
                  base={base}
                  value={values.get(name)}
                  isDifferent={name !== base && differs(value, values.get(name))}
                  onOpen={() => onOpen(key, name)}
                />
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
};
