// Selects the events of a webhook, with an explanation of each, and whether they have the headers of CloudEvents.
import type { FlagEventName } from "@halyard/sdk/management";
import { Checkbox, Stack } from "@mantine/core";

export type EventChoice = FlagEventName | "*";

const explained: readonly (readonly [name: FlagEventName, when: string])[] = [
  ["flag.created", "a flag was created"],
  ["flag.enabled", "a flag was turned on"],
  ["flag.disabled", "a flag was turned off"],
  ["flag.updated", "another field of a flag changed, such as its description"],
  ["flag.deleted", "a flag was deleted"],
];

const names = explained.map(([name]) => name);

/** From the API's list; names that this page does not know are left out. */
export const choicesOf = (events: readonly string[]): readonly EventChoice[] =>
  events.includes("*") ? ["*"] : names.filter((name) => events.includes(name));

interface EventsPickerProps {
  readonly value: readonly EventChoice[];
  readonly onChange: (value: readonly EventChoice[]) => void;
}

export const EventsPicker = ({ value, onChange }: EventsPickerProps) => {
  const isAll = value.includes("*");
  const chosen = new Set<EventChoice>(isAll ? names : value);
  const turn = (name: FlagEventName, on: boolean) =>
    onChange(names.filter((each) => (each === name ? on : chosen.has(each))));
  return (
    <Checkbox.Group
      label="Events"
      description="Which events the receiver gets."
      value={isAll ? ["*", ...names] : [...value]}
      error={value.length === 0 ? "Select at least one event." : undefined}
    >
      <Stack gap="xs" mt="xs">
        <Checkbox
          value="*"
          label="* : all events, including types that are added later"
          onChange={(event) => onChange(event.currentTarget.checked ? ["*"] : names)}
        />
        {explained.map(([name, when]) => (
          <Checkbox
            key={name}
            value={name}
            label={
              <span>
                <span className="mono">{name}</span>: {when}
              </span>
            }
            onChange={(event) => turn(name, event.currentTarget.checked)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  );
};

interface CloudEventsChoiceProps {
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

export const CloudEventsChoice = ({ value, onChange }: CloudEventsChoiceProps) => (
  <Checkbox
    label="CloudEvents headers"
    description="For event brokers: adds ce-id, ce-type and others. Body and signatures stay the same."
    checked={value}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
);
