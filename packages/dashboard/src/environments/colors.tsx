// The colors that environments can have, to choose from by name.
import type { EnvironmentColor } from "@halyard/sdk/management";
import { NativeSelect } from "@mantine/core";
import { EnvironmentDot } from "../components/display/environment-name.tsx";

const colors: readonly EnvironmentColor[] = [
  "gray",
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "blue",
  "indigo",
  "violet",
  "pink",
];

interface ColorInputProps {
  readonly value: EnvironmentColor | null;
  readonly onChange: (color: EnvironmentColor | null) => void;
}

export const ColorInput = ({ value, onChange }: ColorInputProps) => (
  <NativeSelect
    label="Color"
    description="Beside its name, on every page of the environment."
    data={[{ value: "", label: "none" }, ...colors]}
    value={value ?? ""}
    leftSection={<EnvironmentDot color={value} />}
    onChange={(event) =>
      onChange(colors.find((color) => color === event.currentTarget.value) ?? null)
    }
  />
);
