// What a rule serves: one variant, or a split.
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import type { Serve } from "@halyard/core/targeting/targeting";
import { NativeSelect } from "@mantine/core";
import { mistakeAt } from "../conditions/row-props.tsx";
import { isServe, type Split, splitOf } from "../split/shares.ts";
import { SplitEditor } from "../split/split-editor.tsx";

interface ServeInputProps {
  readonly value: unknown;
  readonly onChange: (serve: Serve) => void;
  readonly variants: readonly string[];
  /** What the rule serves now; undefined of a new one. */
  readonly saved: Serve | undefined;
  readonly place: string;
  readonly mistakes: readonly ValidationError[];
}

/** No variant has such a name. */
const split = "";
const unknown = "?";

/** The first mistake in the shares. */
const within = (mistakes: readonly ValidationError[], place: string): string | undefined =>
  mistakes
    .filter((each) => each.place.startsWith(`${place}[`))
    .map(({ message }) => `It ${message}.`)[0];

const isComparable = (saved: Split, variants: readonly string[]): boolean =>
  saved.every(({ variant }) => variants.includes(variant));

export const ServeInput = (props: ServeInputProps) => {
  const { onChange, variants, saved, place, mistakes } = props;
  const value = isServe(props.value) ? props.value : "";
  const isSplit = typeof value !== "string";
  const isUnknown = !isSplit && !variants.includes(value);
  const choose = (next: string) =>
    onChange(next === split ? splitOf(isUnknown ? (variants[0] ?? "") : value) : next);
  const before = saved === undefined ? undefined : splitOf(saved);
  return (
    <div data-place={place}>
      <NativeSelect
        label="Serve"
        data={[
          ...variants,
          { value: split, label: "a split by percentage" },
          ...(isUnknown ? [{ value: unknown, label: `${value || "…"} (not a variant)` }] : []),
        ]}
        value={isSplit ? split : isUnknown ? unknown : value}
        onChange={(event) => choose(event.currentTarget.value)}
        error={mistakeAt(mistakes, place) ?? within(mistakes, place)}
        className="rule-serve"
      />
      {isSplit && (
        <SplitEditor
          label="Percent of those whom the rule matches"
          variants={variants}
          value={value}
          onChange={onChange}
          isWhole={false}
          {...(before && isComparable(before, variants) && { saved: before })}
        />
      )}
    </div>
  );
};
