// Edits a condition: rows for attributes and segments, boxes for groups, six levels at most.
import { type Condition, everyone } from "@halyard/core/targeting/conditions/condition";
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import { Button, Group } from "@mantine/core";
import { useEffect, useRef } from "react";
import "../../styles/targeting/conditions.css";
import type { SuggestedNames } from "../collect-names.ts";
import { ConditionNode } from "./condition-node.tsx";
import {
  isBlank,
  kindOf,
  newCondition,
  newSegmentCondition,
  withAnother,
} from "./condition-tree.ts";
import { mistakeAt } from "./row-props.tsx";

interface ConditionEditorProps {
  /** Null asks nothing. */
  readonly value: Condition | null;
  readonly onChange: (next: Condition | null) => void;
  readonly names: SuggestedNames;
  readonly label: string;
  readonly disabled?: boolean;
  /** False within a segment: segments do not name others. */
  readonly mayNameSegments?: boolean;
  /** Where the condition stands in what is saved, as mistakes name it. */
  readonly place?: string;
  readonly mistakes?: readonly ValidationError[];
}

const none: readonly ValidationError[] = [];

export const ConditionEditor = (props: ConditionEditorProps) => {
  const { value, onChange, names, label, disabled = false } = props;
  const { mayNameSegments = true, place = "when", mistakes = none } = props;
  const box = useRef<HTMLFieldSetElement>(null);
  /** What gets the focus once the change is on the page. */
  const focusNext = useRef<"last" | "add" | undefined>(undefined);
  useEffect(() => {
    const wanted = focusNext.current;
    focusNext.current = undefined;
    if (wanted === "add") box.current?.querySelector<HTMLElement>(":scope button")?.focus();
    if (wanted !== "last") return;
    const rows = box.current?.querySelectorAll<HTMLElement>(".condition-fields");
    rows?.[rows.length - 1]?.querySelector<HTMLElement>("input")?.focus();
  });
  const add = (added: Condition) => {
    focusNext.current = "last";
    onChange(withAnother(value, added));
  };
  const matchEveryone = () => {
    // The selected button disappears, so focus must move.
    focusNext.current = "add";
    onChange(everyone);
  };
  const isList = value !== null && ["all", "any"].includes(kindOf(value));
  const here = value === null ? mistakeAt(mistakes, place) : undefined;
  return (
    <fieldset className="condition-editor" disabled={disabled} ref={box} data-place={place}>
      <legend>{label}</legend>
      {value !== null && (
        <ConditionNode
          condition={value}
          onReplace={([next = null]) => {
            if (next === null) focusNext.current = "add";
            onChange(next);
          }}
          mayBeMany={false}
          number={isList ? "" : "1"}
          place={place}
          depth={0}
          shared={{ names, mistakes, mayNameSegments }}
        />
      )}
      {here !== undefined && <p className="condition-mistake">{here}</p>}
      {!isList && (
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={() => add(newCondition)}>
            Add condition
          </Button>
          {mayNameSegments && (
            <Button variant="default" size="compact-sm" onClick={() => add(newSegmentCondition)}>
              Add segment
            </Button>
          )}
          {isBlank(value) && (
            <Button variant="default" size="compact-sm" onClick={matchEveryone}>
              Match everyone
            </Button>
          )}
        </Group>
      )}
    </fieldset>
  );
};
