// A percentage as a slider, a number box with three decimals and buttons for common steps.
import { Button, Group, NumberInput, Slider } from "@mantine/core";
import { useState } from "react";
import { formatPercent } from "../../format.ts";

interface RolloutInputProps {
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly disabled?: boolean;
  /** The flag is off: the percentage applies once it is on. */
  readonly isOff?: boolean;
}

const commonSteps = [0, 1, 5, 10, 25, 50, 100];
const marks = [0, 25, 50, 75, 100].map((value) => ({ value, label: `${value}` }));

export const RolloutInput = (props: RolloutInputProps) => {
  const { value, onChange, disabled = false, isOff = false } = props;
  /** The text in the box while it is not a number, such as an empty one. */
  const [typed, setTyped] = useState<string | undefined>();
  return (
    <div className="rollout-input" data-off={isOff || undefined}>
      <div className="rollout-input-row">
        <Slider
          className="rollout-slider"
          value={value}
          onChange={onChange}
          min={0}
          max={100}
          step={1}
          marks={marks}
          label={formatPercent}
          thumbLabel="Rollout in percent"
          disabled={disabled}
        />
        <NumberInput
          className="rollout-number"
          label={isOff ? "Percent of users when on" : "Percent of users"}
          value={typed ?? value}
          onChange={(next) => {
            setTyped(typeof next === "number" ? undefined : next);
            if (typeof next === "number") onChange(next);
          }}
          onBlur={() => setTyped(undefined)}
          allowNegative={false}
          min={0}
          max={100}
          step={1}
          decimalScale={3}
          clampBehavior="strict"
          suffix="%"
          disabled={disabled}
        />
      </div>
      <Group gap={6} mt="sm" role="group" aria-label="Common percentages">
        {commonSteps.map((step) => (
          <Button
            key={step}
            size="compact-xs"
            variant="default"
            onClick={() => onChange(step)}
            disabled={disabled}
          >
            {formatPercent(step)}
          </Button>
        ))}
      </Group>
    </div>
  );
};
