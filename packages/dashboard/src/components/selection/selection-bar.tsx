// What can be done with the selected rows, at the bottom of the window.
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { formatNumber } from "../../format.ts";
import { Icon } from "../display/icon.tsx";
import type { Selection } from "./use-selection.ts";
import "./selection.css";

interface SelectionBarProps {
  readonly selection: Selection;
  /** Such as "flag". */
  readonly what: string;
  /** How many selected ones still exist. */
  readonly count: number;
  /** The rows that match the filters. */
  readonly shown: readonly string[];
  readonly children: ReactNode;
}

export const SelectionBar = ({ selection, what, count, shown, children }: SelectionBarProps) => {
  const { keys, add, clear } = selection;
  if (count === 0) return null;
  const hasMore = shown.some((key) => !keys.has(key));
  return (
    <section className="selection-bar" aria-label={`Selected ${what}s`}>
      <span className="selection-count" role="status">
        {formatNumber(count)} selected
      </span>
      {hasMore && (
        <Button size="compact-sm" variant="subtle" onClick={() => add(shown)}>
          Select all {formatNumber(shown.length)}
        </Button>
      )}
      <div className="selection-actions">{children}</div>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        leftSection={<Icon name="cross" size={14} />}
        onClick={clear}
      >
        Clear
      </Button>
    </section>
  );
};
