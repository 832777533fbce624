// A split as a bar: a part for each variant, and borders that are dragged or moved with the arrow keys.
import type { KeyboardEvent, PointerEvent } from "react";
import { useRef } from "react";
import { formatPercent } from "../../format.ts";

export interface Part {
  readonly variant: string;
  /** In percent. */
  readonly share: number;
}

interface SplitBarProps {
  readonly parts: readonly Part[];
  /** What a border would be dragged into after the last part; undefined when the parts must be everyone. */
  readonly rest: string | undefined;
  readonly label: string;
  readonly disabled: boolean;
  /** Moves the end of this part to this percentage of everyone. */
  readonly onMove: (index: number, end: number) => void;
}

/** Of patterns and colours together, so that nobody has to tell colours apart. */
export const lookOf = (index: number) => ({
  "data-colour": index % 6,
  "data-pattern": index % 7,
});

/** Parts that are narrower have no room for their name. */
const roomForName = 12;

interface BorderProps {
  readonly before: Part;
  readonly after: Part;
  readonly start: number;
  readonly disabled: boolean;
  readonly onMove: (end: number) => void;
}

const Border = ({ before, after, start, disabled, onMove }: BorderProps) => {
  const at = start + before.share;
  const end = at + after.share;
  const within = (position: number) => Math.min(Math.max(position, start), end);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.shiftKey ? 10 : 1;
    const positions: Readonly<Record<string, number>> = {
      ArrowLeft: at - step,
      ArrowDown: at - step,
      ArrowRight: at + step,
      ArrowUp: at + step,
      PageDown: at - 10,
      PageUp: at + 10,
      Home: start,
      End: end,
    };
    const wanted = positions[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    onMove(within(wanted));
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const bar = event.currentTarget.parentElement;
    if (bar === null || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, width } = bar.getBoundingClientRect();
    onMove(within(Math.round(((event.clientX - left) / width) * 100)));
  };
  return (
    <div
      className="split-border"
      role="slider"
      tabIndex={disabled ? -1 : 0}
      aria-label={`Border between ${before.variant} and ${after.variant}`}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={before.share + after.share}
      aria-valuenow={before.share}
      aria-valuetext={[before, after]
        .map(({ variant, share }) => `${variant} ${formatPercent(share)}`)
        .join(", ")}
      aria-disabled={disabled || undefined}
      // Where several lie on each other, the one that can move is on top.
      data-stuck={start === end || undefined}
      style={{ left: `${at}%` }}
      onKeyDown={disabled ? undefined : onKeyDown}
      onPointerDown={(event) => {
        if (disabled || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
    />
  );
};

export const SplitBar = ({ parts, rest, label, disabled, onMove }: SplitBarProps) => {
  const bar = useRef<HTMLDivElement>(null);
  let sum = 0;
  const starts = parts.map(({ share }) => {
    sum += share;
    return sum - share;
  });
  const left: Part | undefined =
    rest === undefined ? undefined : { variant: rest, share: Math.max(100 - sum, 0) };
  const all = left === undefined ? parts : [...parts, left];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would ask for a legend of its own
    <div className="split-bar" ref={bar} role="group" aria-label={label}>
      {parts.map(({ variant, share }, index) => (
        <div
          key={variant}
          className="split-part"
          {...lookOf(index)}
          style={{ left: `${starts[index]}%`, width: `${share}%` }}
          aria-hidden="true"
        >
          {share >= roomForName && <span className="split-part-name">{variant}</span>}
        </div>
      ))}
      {all.slice(0, -1).map((before, index) => (
        <Border
          key={before.variant}
          before={before}
          after={all[index + 1] as Part}
          start={starts[index] ?? 0}
          disabled={disabled}
          onMove={(end) => onMove(index, end)}
        />
      ))}
    </div>
  );
};
