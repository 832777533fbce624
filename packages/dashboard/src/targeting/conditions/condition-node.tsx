// A condition with its menu: a row for an attribute or a segment, a box for a group, and whatever stands in it.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import { ActionIcon, Button, Group, Menu, MultiSelect, NativeSelect } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Icon } from "../../components/display/icon.tsx";
import { useRowKeys } from "../row-keys.ts";
import { AttributeRow } from "./attribute-row.tsx";
import {
  asKind,
  type GroupKind,
  innerOf,
  kindOf,
  levelsOf,
  maxLevels,
  newCondition,
  newSegmentCondition,
  placeIn,
  withInner,
  wrapped,
} from "./condition-tree.ts";
import { labelOf, mistakeAt, type Shared, suggesting } from "./row-props.tsx";

interface NodeProps {
  readonly condition: Condition;
  /** None takes it away, several stand in its place. */
  readonly onReplace: (next: readonly Condition[]) => void;
  /** Whether several can stand in its place. */
  readonly mayBeMany: boolean;
  /** "1", "2.1" and so on. */
  readonly number: string;
  readonly place: string;
  /** How many conditions it stands in. */
  readonly depth: number;
  readonly shared: Shared;
}

const nameOf = (condition: Condition, number: string): string =>
  innerOf(condition).length > 0 ? `group ${number}` : `condition ${number}`;

const NodeMenu = ({ condition, onReplace, mayBeMany, number, depth }: NodeProps) => {
  const kind = kindOf(condition);
  const inner = innerOf(condition);
  const isGroup = kind === "all" || kind === "any" || kind === "not";
  const isDeep = depth + levelsOf(condition) >= maxLevels;
  const mayUnwrap = isGroup && inner.length > 0 && (mayBeMany || inner.length === 1);
  const wrap = (into: GroupKind) => onReplace([wrapped(condition, into)]);
  return (
    <Menu position="bottom-end" withinPortal={false} returnFocus>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`More for ${nameOf(condition, number)}`}
        >
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {kind === "not" ? (
          <Menu.Item onClick={() => onReplace(inner)}>Do not negate</Menu.Item>
        ) : (
          <Menu.Item disabled={isDeep} onClick={() => wrap("not")}>
            Negate: not
          </Menu.Item>
        )}
        <Menu.Item disabled={isDeep} onClick={() => wrap("all")}>
          Put into a group: all of
        </Menu.Item>
        <Menu.Item disabled={isDeep} onClick={() => wrap("any")}>
          Put into a group: any of
        </Menu.Item>
        {kind !== "not" && isGroup && (
          <Menu.Item disabled={!mayUnwrap} onClick={() => onReplace(inner)}>
            Dissolve the group
          </Menu.Item>
        )}
        <Menu.Item onClick={() => onReplace([])}>Remove</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

const SegmentRow = ({ condition, onReplace, number, place, shared }: NodeProps) => {
  const { segment } = condition as { readonly segment: readonly string[] };
  const { names, mistakes } = shared;
  const known = new Set(names.segments);
  /** JSON may name one twice. */
  const chosen = [...new Set(segment)];
  const missing = chosen.filter((key) => !known.has(key));
  const atKeys = segment.map((_, index) => mistakeAt(mistakes, `${place}.segment[${index}]`));
  return (
    <div className="condition-fields" data-place={`${place}.segment`}>
      <MultiSelect
        label={labelOf("Is in any of the segments", `condition ${number}`)}
        data={[...names.segments, ...missing.map((key) => ({ value: key, label: `${key} (?)` }))]}
        value={chosen}
        onChange={(next) => onReplace([{ ...condition, segment: next } as Condition])}
        placeholder={
          segment.length > 0 ? "" : names.segments.length === 0 ? "There are none" : "Choose"
        }
        error={
          mistakeAt(mistakes, `${place}.segment`) ??
          mistakeAt(mistakes, place) ??
          atKeys.find((each) => each !== undefined) ??
          (missing.length > 0 && `There is no segment ${missing.join(", ")}.`)
        }
        searchable
        {...suggesting}
        className="condition-value"
      />
    </div>
  );
};

const kindLabels = { all: "All of these are true", any: "Any of these is true" } as const;

const GroupBox = (props: NodeProps) => {
  const { condition, onReplace, number, place, depth, shared } = props;
  const kind = kindOf(condition);
  const inner = innerOf(condition);
  const { keys, insert, remove } = useRowKeys(inner.length);
  const box = useRef<HTMLDivElement>(null);
  const focusesLast = useRef(false);
  useEffect(() => {
    if (!focusesLast.current) return;
    focusesLast.current = false;
    box.current
      ?.querySelector<HTMLElement>(":scope > .condition-list > :last-child :is(input, select)")
      ?.focus();
  });
  const set = (next: readonly Condition[]) => onReplace([withInner(condition, next)]);
  const replace = (index: number, next: readonly Condition[]) => {
    if (next.length === 0) remove(index);
    else if (next.length > 1) insert(index + 1, next.length - 1);
    if (next.length === 0 && (kind === "not" || inner.length === 1)) return onReplace([]);
    if (next.length === 0)
      box.current?.querySelector<HTMLElement>(":scope > :last-child button")?.focus();
    set([...inner.slice(0, index), ...next, ...inner.slice(index + 1)]);
  };
  const add = (added: Condition) => {
    focusesLast.current = true;
    insert(inner.length);
    set([...inner, added]);
  };
  const isFull = depth + 2 > maxLevels;
  const newGroup: Condition = kind === "all" ? { any: [newCondition] } : { all: [newCondition] };
  return (
    <div className="condition-group" ref={box} data-place={`${place}.${kind}`}>
      {kind === "not" ? (
        <div>
          <strong>Not</strong>{" "}
          <span className="dimmed">(what is unknown does not match either)</span>
        </div>
      ) : (
        <NativeSelect
          label={labelOf("Match", `group ${number}`)}
          data={Object.entries(kindLabels).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(event) =>
            onReplace([asKind(condition, event.currentTarget.value === "any" ? "any" : "all")])
          }
          error={mistakeAt(shared.mistakes, `${place}.${kind}`)}
          className="condition-operator"
        />
      )}
      <ol className="condition-list">
        {inner.map((each, index) => (
          <li key={keys[index]}>
            <ConditionNode
              condition={each}
              onReplace={(next) => replace(index, next)}
              mayBeMany={kind !== "not"}
              number={kind === "not" ? number : [number, index + 1].filter(Boolean).join(".")}
              place={placeIn(condition, place, index)}
              depth={depth + 1}
              shared={shared}
            />
          </li>
        ))}
      </ol>
      {kind !== "not" && (
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={() => add(newCondition)}>
            Add condition
          </Button>
          {shared.mayNameSegments && (
            <Button variant="default" size="compact-sm" onClick={() => add(newSegmentCondition)}>
              Add segment
            </Button>
          )}
          {!isFull && (
            <Button variant="default" size="compact-sm" onClick={() => add(newGroup)}>
              Add group
            </Button>
          )}
        </Group>
      )}
    </div>
  );
};

const Fields = (props: NodeProps) => {
  const { condition, onReplace, number, place, shared } = props;
  switch (kindOf(condition)) {
    case "attribute":
      return (
        <AttributeRow
          condition={condition as AttributeCondition}
          onChange={(next) => onReplace([next])}
          name={`condition ${number}`}
          place={place}
          shared={shared}
        />
      );
    case "segment":
      return <SegmentRow {...props} />;
    case "everyone":
      return <div className="condition-fields">Everyone</div>;
    case "unknown":
      return (
        <div className="condition-fields">
          <span>This page does not know this condition: edit it as JSON.</span>
          <pre className="condition-unknown">{JSON.stringify(condition)}</pre>
        </div>
      );
    default:
      return <GroupBox {...props} />;
  }
};

export const ConditionNode = (props: NodeProps) => (
  <div className="condition-node" data-place={props.place}>
    <Fields {...props} />
    <NodeMenu {...props} />
  </div>
);
