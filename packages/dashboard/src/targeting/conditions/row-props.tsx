// What the rows of a condition editor have in common.
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import type { ReactNode } from "react";
import type { SuggestedNames } from "../collect-names.ts";

export interface Shared {
  readonly names: SuggestedNames;
  readonly mistakes: readonly ValidationError[];
  /** False within a segment: segments do not name others. */
  readonly mayNameSegments: boolean;
}

/** Suggestions stand beside their field, which is where screen readers look for them. */
export const suggesting = { comboboxProps: { withinPortal: false }, limit: 50 } as const;

/** A short label on the page; whoever hears it alone also hears what it belongs to. */
export const labelOf = (text: string, name: string): ReactNode => (
  <>
    {text}
    <span className="visually-hidden"> of {name}</span>
  </>
);

/** The mistake at exactly this place; undefined when there is none. */
export const mistakeAt = (
  mistakes: readonly ValidationError[],
  place: string,
): string | undefined =>
  mistakes
    .filter((each) => each.place === place)
    .map(({ message }) => `It ${message}.`)
    .join(" ") || undefined;
