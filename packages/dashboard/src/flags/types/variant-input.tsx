// The variants of a flag: a name and a value each, and which of them are given while the flag is off and on.
import type { FlagValue } from "@halyard/core/evaluate";
import { type ValueType, type VariantFlag, valueTypes } from "@halyard/core/flags/variant";
import type { Serve } from "@halyard/core/targeting/targeting";
import {
  Button,
  CloseButton,
  Group,
  JsonInput,
  NumberInput,
  Select,
  Stack,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { splitOf } from "../../targeting/split/shares.ts";
import { SplitEditor } from "../../targeting/split/split-editor.tsx";

type Members = Pick<VariantFlag, "valueType" | "variants" | "off" | "otherwise">;

interface VariantInputProps {
  readonly value: Members;
  readonly onChange: (value: Members) => void;
  readonly disabled?: boolean;
  readonly isNew?: boolean;
  readonly saved?: Members;
}

/** The option for a split. Nobody can type it as the name of a variant, which may be empty for a moment. */
const split = "\n";

const emptyValues: Readonly<Record<ValueType, FlagValue>> = { string: "", number: 0, object: {} };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface ValueInputProps {
  readonly label: string;
  readonly value: FlagValue;
  readonly onChange: (value: FlagValue) => void;
  readonly disabled: boolean;
}

const ObjectInput = ({ label, value, onChange, disabled }: ValueInputProps) => {
  /** The text while it is not an object. */
  const [typed, setTyped] = useState<string | undefined>();
  const change = (text: string) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    setTyped(isObject(parsed) && JSON.stringify(parsed, null, 2) === text ? undefined : text);
    if (isObject(parsed)) onChange(parsed);
  };
  return (
    <JsonInput
      label={label}
      value={typed ?? JSON.stringify(value, null, 2)}
      onChange={change}
      validationError="This is not a JSON object."
      autosize
      minRows={2}
      maxRows={8}
      disabled={disabled}
    />
  );
};

const ValueInput = (props: ValueInputProps) => {
  const { label, value, onChange, disabled } = props;
  if (typeof value === "object") return <ObjectInput {...props} />;
  if (typeof value === "number") {
    return (
      <NumberInput
        label={label}
        value={value}
        onChange={(next) => typeof next === "number" && onChange(next)}
        disabled={disabled}
      />
    );
  }
  return (
    <TextInput
      label={label}
      value={String(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
      disabled={disabled}
    />
  );
};

const renamed = (serve: Serve, from: string, to: string): Serve => {
  if (typeof serve === "string") return serve === from ? to : serve;
  return serve.map((each) => (each.variant === from ? { ...each, variant: to } : each));
};

export const VariantInput = ({
  value,
  onChange,
  disabled = false,
  isNew = false,
  saved,
}: VariantInputProps) => {
  const { valueType, variants, off, otherwise } = value;
  const [removals, setRemovals] = useState(0);
  const names = Object.keys(variants);
  const set = (change: Partial<Members>) => onChange({ ...value, ...change });

  const rename = (from: string, to: string) => {
    if (to !== from && names.includes(to)) return;
    const entries = Object.entries(variants).map(([name, each]) => [
      name === from ? to : name,
      each,
    ]);
    set({
      variants: Object.fromEntries(entries) as Members["variants"],
      off: off === from ? to : off,
      otherwise: renamed(otherwise, from, to),
    });
  };
  const remove = (name: string) => {
    const { [name]: _, ...rest } = variants;
    setRemovals(removals + 1);
    set({ variants: rest });
  };
  const add = () => {
    let number = names.length + 1;
    while (names.includes(`variant-${number}`)) number += 1;
    set({ variants: { ...variants, [`variant-${number}`]: emptyValues[valueType] } });
  };
  const chooseType = (next: string | null) => {
    const chosen = valueTypes.find((each) => each === next);
    if (chosen === undefined || chosen === valueType) return;
    const emptied = names.map((name) => [name, emptyValues[chosen]] as const);
    set({ valueType: chosen, variants: Object.fromEntries(emptied) });
  };

  const isSplit = typeof otherwise !== "string";
  /** What people have now; not while a variant of it has another name. */
  const before = saved === undefined ? undefined : splitOf(saved.otherwise);
  const isComparable = before?.every(({ variant }) => names.includes(variant)) === true;
  const chooseOtherwise = (next: string | null) => {
    if (next === null) return;
    if (next !== split) return set({ otherwise: next });
    const first = names[0] ?? "";
    set({ otherwise: [{ variant: isSplit ? first : otherwise, share: 100 }] });
  };

  return (
    <Stack gap="sm" className="variant-input">
      {isNew && (
        <Select
          label="Values"
          description="What the variants are. It cannot be changed later."
          data={[
            { value: "string", label: "texts" },
            { value: "number", label: "numbers" },
            { value: "object", label: "JSON objects" },
          ]}
          value={valueType}
          onChange={chooseType}
          allowDeselect={false}
          disabled={disabled}
        />
      )}
      {names.map((name, index) => (
        // A name changes while it is typed: the place stays, until one is removed.
        // biome-ignore lint/suspicious/noArrayIndexKey: a removal makes all rows anew
        <Group key={`${removals} ${index}`} align="flex-end" wrap="nowrap" gap="xs">
          <TextInput
            label="Variant"
            value={name}
            onChange={(event) => rename(name, event.currentTarget.value)}
            disabled={disabled}
            className="variant-name"
            classNames={{ input: "mono" }}
          />
          <div className="variant-value">
            <ValueInput
              label={`Value of ${name}`}
              value={variants[name] ?? ""}
              onChange={(next) => set({ variants: { ...variants, [name]: next } })}
              disabled={disabled}
            />
          </div>
          {!disabled && names.length > 1 && (
            <CloseButton aria-label={`Remove ${name}`} onClick={() => remove(name)} />
          )}
        </Group>
      ))}
      {!disabled && (
        <Button variant="default" size="compact-sm" onClick={add} className="variant-add">
          Add variant
        </Button>
      )}
      <Group grow align="flex-start">
        <Select
          label="While off"
          data={names}
          value={off}
          onChange={(next) => next !== null && set({ off: next })}
          allowDeselect={false}
          disabled={disabled}
        />
        <Select
          label="While on"
          data={[...names, { value: split, label: "a split by percentage" }]}
          value={isSplit ? split : otherwise}
          onChange={chooseOtherwise}
          allowDeselect={false}
          disabled={disabled}
        />
      </Group>
      {isSplit && (
        <SplitEditor
          label="Percent of users while on"
          variants={names}
          value={otherwise}
          onChange={(next) => set({ otherwise: next })}
          isWhole
          {...(isComparable && { saved: before })}
          disabled={disabled}
        />
      )}
    </Stack>
  );
};
