// The limit on flips: of an environment, or of a key.
import { NumberInput } from "@mantine/core";

interface MaxFlipsInputProps {
  /** In percent; null for none. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly label: string;
  readonly description?: string;
}

export const MaxFlipsInput = ({ value, onChange, ...words }: MaxFlipsInputProps) => (
  <NumberInput
    {...words}
    placeholder="No limit"
    value={value ?? ""}
    onChange={(next) => onChange(typeof next === "number" ? next : null)}
    allowNegative={false}
    min={0}
    max={100}
    step={1}
    decimalScale={3}
    clampBehavior="strict"
    suffix="%"
    styles={{ wrapper: { maxWidth: "12rem" } }}
  />
);
