// The colors that environments can have, to choose from by name.
import { NativeSelect } from "@mantine/core";
import { EnvironmentDot } from "../components/display/environment-name.tsx";

const colors = [
  ...["gray", "red", "orange", "yellow", "green"],
  ...["teal", "blue", "indigo", "violet", "pink"],
] as const;

interface ColorInputProps {
  readonly value: string | null;
  readonly onChange: (color: string | null) => void;
}

export const ColorInput = ({ value, onChange }: ColorInputProps) => (
  <NativeSelect
    label="Color"
    description="Beside its name, on every page of the environment."
    data={[{ value: "", label: "none" }, ...colors]}
    value={value ?? ""}
    leftSection={<EnvironmentDot color={value} />}
    onChange={(event) => onChange(event.currentTarget.value || null)}
  />
);
