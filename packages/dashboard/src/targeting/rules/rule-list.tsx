// The rules of a flag in their order: added, opened, moved, duplicated and removed.
import type { Flag } from "@halyard/core/flags/registry";
import type { ValidationError } from "@halyard/core/targeting/mistakes";
import { maxRules } from "@halyard/core/targeting/rule-ids";
import { Button } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../../components/display/icon.tsx";
import type { SuggestedNames } from "../collect-names.ts";
import { moved, useRowKeys } from "../row-keys.ts";
import { type Mover, RuleCard } from "./rule-card.tsx";
import { copyOf, type DraftRule, newRule, variantsOf } from "./targeting-draft.ts";
import { type Drag, useDrag } from "./use-drag.ts";

interface RuleListProps {
  /** As it is saved. */
  readonly flag: Flag;
  readonly rules: readonly DraftRule[];
  readonly onChange: (rules: readonly DraftRule[]) => void;
  readonly names: SuggestedNames;
  readonly mistakes: readonly ValidationError[];
  /** For each rule, see splitHints. */
  readonly hints: readonly (string | undefined)[];
  /** Whether the first rule was just added. */
  readonly isNew: boolean;
  /** The rule that must be open, since a mistake in it is to be shown. */
  readonly opened: { readonly index: number } | undefined;
}

interface Focus {
  readonly index: number;
  readonly selector: string;
}

const firstField = (index: number): Focus => ({
  index,
  selector: ".condition-fields input",
});

const nameOf = (rule: DraftRule | undefined, index: number): string =>
  `Rule ${rule?.id ?? index + 1}`;

const dropAt = (drag: Drag | undefined, index: number): "before" | "after" | undefined => {
  if (drag === undefined || drag.to === drag.from) return undefined;
  if (index !== drag.to) return undefined;
  return drag.to > drag.from ? "after" : "before";
};

export const RuleList = (props: RuleListProps) => {
  const { flag, rules, onChange, names, mistakes, hints, isNew, opened } = props;
  const { keys, insert, remove, move } = useRowKeys(rules.length);
  const [told, setTold] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  /** After the next render, when the row is where it shall be. */
  const focusNext = useRef<Focus | undefined>(isNew ? firstField(0) : undefined);
  const saved = new Map(flag.rules?.map(({ id, serve }) => [id, serve]));
  /** By row, the name that its rule had at first: it may be edited. */
  const firstNames = useRef(new Map<string, string | undefined>());
  if (rules === flag.rules) firstNames.current.clear();
  for (const [index, key] of keys.entries()) {
    if (!firstNames.current.has(key)) firstNames.current.set(key, rules[index]?.id);
  }
  const savedOf = ({ id = "" }: DraftRule, key: string) =>
    saved.get(id) ?? saved.get(firstNames.current.get(key) ?? "");
  const variants = variantsOf(flag);
  // What is new is there to be edited.
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(keys.filter((_, index) => !saved.has(rules[index]?.id ?? ""))),
  );

  const [shown, setShown] = useState(opened);
  if (shown !== opened) {
    setShown(opened);
    const key = opened && keys[opened.index];
    if (key !== undefined) setOpen(new Set([...open, key]));
  }
  useLayoutEffect(() => {
    const wanted = focusNext.current;
    if (wanted === undefined) return;
    focusNext.current = undefined;
    const row = list.current?.children[wanted.index];
    const found = row?.querySelector<HTMLElement>(wanted.selector);
    (found ?? row?.querySelector<HTMLElement>("[data-mover=grip]") ?? addButton.current)?.focus();
  });

  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const moveTo = (from: number, to: number, by: Mover) => {
    focusNext.current = { index: to, selector: `[data-mover=${by}]:not(:disabled)` };
    move(from, to);
    onChange(moved(rules, from, to));
    setTold(`${nameOf(rules[from], from)} is now ${to + 1} of ${rules.length}.`);
  };
  const put = (index: number, rule: DraftRule) => {
    focusNext.current = firstField(index);
    setOpen(new Set([...open, ...insert(index)]));
    onChange([...rules.slice(0, index), rule, ...rules.slice(index)]);
    setTold(`${nameOf(rule, index)} was added as ${index + 1} of ${rules.length + 1}.`);
  };
  const add = () => put(rules.length, newRule(flag, rules));
  const removeAt = (index: number) => {
    focusNext.current = { index: Math.min(index, rules.length - 2), selector: ".rule-toggle" };
    remove(index);
    onChange(rules.filter((_, at) => at !== index));
    setTold(`${nameOf(rules[index], index)} was removed.`);
  };
  const { drag, start } = useDrag(list, (from, to) => moveTo(from, to, "grip"));

  return (
    <>
      <ol className="rules" ref={list} aria-label="Rules, in order">
        {rules.map((rule, index) => {
          const key = keys[index] ?? "";
          return (
            <RuleCard
              key={key}
              rule={rule}
              index={index}
              of={rules.length}
              place={`rules[${index}]`}
              variants={variants}
              saved={savedOf(rule, key)}
              names={names}
              mistakes={mistakes}
              hint={hints[index]}
              isOpen={open.has(key)}
              isDragged={drag?.from === index}
              drop={dropAt(drag, index)}
              onChange={(next) => onChange(rules.map((each, at) => (at === index ? next : each)))}
              onToggle={() => toggle(key)}
              onMove={(to, by) => moveTo(index, to, by)}
              onDuplicate={() => put(index + 1, copyOf(rule, rules))}
              onRemove={() => removeAt(index)}
              onDragStart={(event) => start(index, event)}
            />
          );
        })}
      </ol>
      <p role="status" className="visually-hidden">
        {told}
      </p>
      <Button
        ref={addButton}
        variant="default"
        size="sm"
        leftSection={<Icon name="plus" size={16} />}
        onClick={add}
        disabled={rules.length >= maxRules}
      >
        Add rule
      </Button>
    </>
  );
};
