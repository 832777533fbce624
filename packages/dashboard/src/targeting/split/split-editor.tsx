// Edits a split: a bar with borders to drag, a number for each variant, and whom the change moves.
import { allThousandths, fromThousandths, thousandthsOf } from "@halyard/core/percentage";
import { recut } from "@halyard/core/targeting/split";
import { Button, CloseButton, Group, NumberInput, Select } from "@mantine/core";
import { useId, useRef, useState } from "react";
import { formatPercent } from "../../format.ts";
import "../../styles/targeting/split.css";
import {
  evenShares,
  type Move,
  movesBetween,
  type Shares,
  type Split,
  sharesOf,
  sumOf,
  withShare,
} from "./shares.ts";
import { lookOf, SplitBar } from "./split-bar.tsx";

export type { Split } from "./shares.ts";

interface SplitEditorProps {
  /** Those that the flag has. */
  readonly variants: readonly string[];
  readonly value: Split;
  readonly onChange: (next: Split) => void;
  /** Whether the shares must be everyone; otherwise the rest goes on to the next rule. */
  readonly isWhole: boolean;
  readonly label: string;
  /** What people have now: the change moves the fewest of them. Unless given, nothing is said about whom it moves. */
  readonly saved?: Split;
  readonly disabled?: boolean;
}

const goOn = "go on to the next rule";
const shownMoves = 3;

const moveText = ({ from, to, share }: Move, index: number): string => {
  const people = index === 0 ? " of people" : "";
  if (to === undefined) return `${formatPercent(share)}${people} lose ${from} and ${goOn}`;
  if (from === undefined) return `${formatPercent(share)} more${people} get ${to}`;
  return `${formatPercent(share)}${people} move from ${from} to ${to}`;
};

const movesText = (moves: readonly Move[]): string => {
  if (moves.length === 0) return "Nobody moves.";
  const shown = moves.slice(0, shownMoves).map(moveText).join(", ");
  const more = moves.slice(shownMoves).reduce((sum, { share }) => sum + thousandthsOf(share), 0);
  return more === 0 ? `${shown}.` : `${shown}, ${formatPercent(fromThousandths(more))} otherwise.`;
};

interface ShareInputProps {
  readonly variant: string;
  readonly share: number;
  readonly disabled: boolean;
  readonly autoFocus: boolean;
  readonly onChange: (share: number) => void;
  /** Nothing more is typed. */
  readonly onEnd: () => void;
}

const ShareInput = (props: ShareInputProps) => {
  const { variant, share, disabled, autoFocus, onChange, onEnd } = props;
  /** The text in the box while it is not a number, such as an empty one. */
  const [typed, setTyped] = useState<string | undefined>();
  return (
    <NumberInput
      className="split-number"
      aria-label={`Percent of users: ${variant}`}
      value={typed ?? share}
      onChange={(next) => {
        setTyped(typeof next === "number" ? undefined : next);
        if (typeof next === "number" && next !== share) onChange(next);
      }}
      onFocus={(event) => event.currentTarget.select()}
      onBlur={() => {
        setTyped(undefined);
        onEnd();
      }}
      // A variant that was just added is the one to set.
      autoFocus={autoFocus}
      allowNegative={false}
      min={0}
      max={100}
      decimalScale={3}
      clampBehavior="strict"
      suffix="%"
      disabled={disabled}
    />
  );
};

export const SplitEditor = ({
  variants,
  value,
  onChange,
  isWhole,
  label,
  saved,
  disabled = false,
}: SplitEditorProps) => {
  const id = useId();
  const [first] = useState(value);
  /** Variants with a share of nothing yet: a split does not have them. One that just begins shows all. */
  const [added, setAdded] = useState(value.length > 1 ? [] : variants);
  /** The one that was chosen last. */
  const [chosen, setChosen] = useState<string | undefined>();
  /** The shares before anything was typed: each digit counts from there. */
  const began = useRef<Shares | undefined>(undefined);
  const base = saved ?? first;
  const shares = sharesOf(value);
  // There is nothing to choose among two.
  const isShown = (name: string) =>
    variants.length <= 2 || shares[name] !== undefined || added.includes(name);
  const gone = Object.keys(shares).filter((name) => !variants.includes(name));
  const names = [...variants.filter(isShown), ...gone];
  const absent = variants.filter((name) => !names.includes(name));
  const parts = names.map((variant) => ({ variant, share: shares[variant] ?? 0 }));
  const sum = sumOf(shares);

  const set = (wanted: Shares) => {
    // A share that is dragged to nothing keeps its place in the list.
    setAdded((before) => [...new Set([...before, ...names])]);
    onChange(recut(base, wanted));
  };
  const setShare = (from: Shares, variant: string, share: number) =>
    set(withShare(from, names, variant, share, isWhole));
  const moveBorder = (index: number, end: number) => {
    const start = parts.slice(0, index).reduce((total, { share }) => total + share, 0);
    const [before, after] = [parts[index], parts[index + 1]];
    if (before === undefined) return;
    const share = fromThousandths(thousandthsOf(end - start));
    const left = thousandthsOf(before.share + (after?.share ?? 0) - share);
    set({
      ...shares,
      [before.variant]: share,
      ...(after !== undefined && { [after.variant]: fromThousandths(left) }),
    });
  };
  const remove = (variant: string) => {
    const { [variant]: _, ...rest } = withShare(shares, names, variant, 0, isWhole);
    onChange(recut(base, rest));
    setAdded((before) => before.filter((name) => name !== variant));
  };
  const wrong = isWhole && sum !== 100;
  const unreached = fromThousandths(allThousandths - thousandthsOf(sum));

  return (
    <div className="split">
      <span className="split-label" id={id}>
        {label}
      </span>
      <SplitBar
        parts={parts}
        rest={isWhole ? undefined : "the next rule"}
        label={label}
        disabled={disabled}
        onMove={moveBorder}
      />
      <ul className="split-shares" aria-labelledby={id}>
        {parts.map(({ variant, share }, index) => (
          <li key={variant} className="split-share">
            <span className="split-swatch" {...lookOf(index)} aria-hidden="true" />
            <span className="split-variant mono">{variant}</span>
            <ShareInput
              variant={variant}
              share={share}
              disabled={disabled}
              autoFocus={chosen === variant}
              onChange={(next) => {
                began.current ??= shares;
                setShare(began.current, variant, next);
              }}
              onEnd={() => {
                began.current = undefined;
              }}
            />
            {!disabled && names.length > 1 && variants.length > 2 && (
              <CloseButton
                aria-label={`Remove ${variant} from the split`}
                onClick={() => remove(variant)}
              />
            )}
          </li>
        ))}
      </ul>
      {!disabled && (
        <Group gap="xs">
          {absent.length > 0 && (
            <Select
              aria-label="Add a variant to the split"
              placeholder="Add a variant"
              data={absent}
              value={null}
              onChange={(name) => {
                if (name === null) return;
                setAdded((before) => [...before, name]);
                setChosen(name);
              }}
              className="split-add"
            />
          )}
          {names.length > 1 && (
            <Button variant="default" size="compact-sm" onClick={() => set(evenShares(names))}>
              Even shares
            </Button>
          )}
        </Group>
      )}
      <p className="split-effect dimmed" role="status">
        {wrong && (
          <span className="split-wrong">
            Together {formatPercent(sum)}; it must be {formatPercent(100)}.{" "}
          </span>
        )}
        {!isWhole && `${unreached === 0 ? "Nobody" : formatPercent(unreached)} ${goOn}. `}
        {!disabled && saved !== undefined && movesText(movesBetween(saved, value))}
      </p>
    </div>
  );
};
