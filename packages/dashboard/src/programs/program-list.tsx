// Programs in rows, of which only those in view are rendered.
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import { StatusBadge, type Tone } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { formatNumber } from "../format.ts";
import type { Program, ProgramState } from "./program-filter.ts";

/** As the styles arrange them. */
const wideRow = 60;
const narrowRow = 92;
const narrow = "(max-width: 59.99em)";

const tones: Readonly<Record<ProgramState, Tone>> = {
  current: "good",
  behind: "waiting",
  lost: "bad",
};

interface ProgramRowProps {
  readonly program: Program;
  readonly position: number;
  readonly of: number;
  readonly style: React.CSSProperties;
}

const ProgramRow = ({ program, position, of, style }: ProgramRowProps) => {
  const { name, version, connection, revision, state, lag, seenAt } = program;
  return (
    <li className="program-row" style={style} aria-posinset={position} aria-setsize={of}>
      <div className="program-words">
        <span className="program-name" title={name}>
          {name}
        </span>
        <span className="program-about">{[version, connection].filter(Boolean).join(", ")}</span>
      </div>
      <StatusBadge tone={tones[state]}>{state}</StatusBadge>
      <div className="program-rest">
        <span className="program-revision">
          revision {formatNumber(revision)}
          {lag > 0 && <span className="dimmed">, {formatNumber(lag)} behind</span>}
        </span>
        <span className="program-seen dimmed">
          seen <Time at={seenAt} />
        </span>
      </div>
    </li>
  );
};

interface ProgramListProps {
  readonly label: string;
  readonly programs: readonly Program[];
}

export const ProgramList = ({ label, programs }: ProgramListProps) => {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  // What is above it may grow or shrink at any time.
  useLayoutEffect(() => {
    const { top } = list.current?.getBoundingClientRect() ?? { top: 0 };
    setOffset(Math.round(top + window.scrollY));
  });
  const isNarrow = useMediaQuery(narrow, matchMedia(narrow).matches);
  const height = isNarrow ? narrowRow : wideRow;
  const virtualizer = useWindowVirtualizer({
    count: programs.length,
    estimateSize: () => height,
    overscan: 6,
    scrollMargin: offset,
    getItemKey: (index) => programs[index]?.id ?? index,
  });
  return (
    <ul
      className="program-list"
      ref={list}
      aria-label={label}
      style={{ height: virtualizer.getTotalSize() }}
    >
      {virtualizer.getVirtualItems().map(({ index, start, key }) => {
        const program = programs[index];
        return (
          program && (
            <ProgramRow
              key={key}
              program={program}
              position={index + 1}
              of={programs.length}
              style={{ transform: `translateY(${start - offset}px)`, height }}
            />
          )
        );
      })}
    </ul>
  );
};
