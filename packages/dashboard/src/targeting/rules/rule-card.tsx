// One rule of the list: its sentence, the ways to move it, its menu, and its editor when it is open.
import { ActionIcon, Menu, UnstyledButton } from "@mantine/core";
import { type KeyboardEvent, type PointerEvent, useId } from "react";
import { Icon } from "../../components/display/icon.tsx";
import { ruleSentence } from "../sentence.ts";
import { RuleBody, type RuleBodyProps } from "./rule-body.tsx";

/** What moves a rule, by which it is found again after the move. */
export type Mover = "grip" | "up" | "down";

interface RuleCardProps extends RuleBodyProps {
  readonly index: number;
  readonly of: number;
  readonly isOpen: boolean;
  readonly hint: string | undefined;
  readonly onToggle: () => void;
  readonly onMove: (to: number, by: Mover) => void;
  readonly onDuplicate: () => void;
  readonly onRemove: () => void;
  readonly onDragStart: (event: PointerEvent<HTMLElement>) => void;
  readonly isDragged: boolean;
  /** Whether what is dragged would be dropped at this edge. */
  readonly drop: "before" | "after" | undefined;
}

const CardMenu = ({ rule, onChange, onDuplicate, onRemove }: RuleCardProps) => {
  const toggle = () => {
    const { disabled, ...rest } = rule;
    onChange(disabled === true ? rest : { ...rest, disabled: true });
  };
  return (
    <Menu position="bottom-end" withinPortal={false} returnFocus>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`More for rule ${rule.id}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onDuplicate}>Duplicate</Menu.Item>
        <Menu.Item onClick={toggle}>{rule.disabled === true ? "Enable" : "Disable"}</Menu.Item>
        <Menu.Item onClick={onRemove}>Remove</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

const Movers = ({ rule, index, of, onMove, onDragStart }: RuleCardProps) => {
  const onKey = (event: KeyboardEvent) => {
    const to = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: of - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to !== index && to >= 0 && to < of) onMove(to, "grip");
  };
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className="rule-grip"
      data-mover="grip"
      aria-label={`Move rule ${rule.id}: drag, or arrow keys`}
      onKeyDown={onKey}
      onPointerDown={onDragStart}
    >
      <Icon name="grip" />
    </ActionIcon>
  );
};

const MoveButtons = ({ rule, index, of, onMove }: RuleCardProps) => (
  <>
    <ActionIcon
      variant="subtle"
      color="gray"
      data-mover="up"
      aria-label={`Move rule ${rule.id} up`}
      disabled={index === 0}
      onClick={() => onMove(index - 1, "up")}
    >
      <Icon name="up" />
    </ActionIcon>
    <ActionIcon
      variant="subtle"
      color="gray"
      data-mover="down"
      aria-label={`Move rule ${rule.id} down`}
      disabled={index === of - 1}
      onClick={() => onMove(index + 1, "down")}
    >
      <Icon name="chevron" />
    </ActionIcon>
  </>
);

export const RuleCard = (props: RuleCardProps) => {
  const { rule, index, place, isOpen, hint, onToggle, isDragged, drop } = props;
  const bodyId = useId();
  const isWrong = props.mistakes.some((each) => each.place.startsWith(`${place}`));
  return (
    <li
      className="rule"
      data-place={place}
      data-dragged={isDragged || undefined}
      data-drop={drop}
      data-disabled={rule.disabled === true || undefined}
    >
      <div className="rule-head">
        <Movers {...props} />
        <UnstyledButton
          className="rule-toggle"
          aria-expanded={isOpen}
          aria-controls={bodyId}
          onClick={onToggle}
        >
          <span className="rule-title">
            <span className="dimmed">{index + 1}.</span> <span className="mono">{rule.id}</span>
            {isWrong && <span className="rule-wrong"> has mistakes</span>}
          </span>
          <span className="rule-sentence">{ruleSentence(rule)}</span>
          {rule.description !== undefined && !isOpen && (
            <span className="rule-about dimmed">{rule.description}</span>
          )}
        </UnstyledButton>
        <span className="rule-buttons">
          <MoveButtons {...props} />
          <CardMenu {...props} />
        </span>
      </div>
      {hint !== undefined && <p className="rule-hint">{hint}</p>}
      <div id={bodyId}>{isOpen && <RuleBody {...props} />}</div>
    </li>
  );
};
