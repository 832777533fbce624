// The inputs for what an operator compares with: lists as tags, a number, a version, a time with its zone, yes or no.
import type { AttributeCondition, Scalar } from "@halyard/core/targeting/conditions/operators";
import { Checkbox, Group, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { formatDate } from "../../format.ts";
import { momentOf, partsOfMoment, zoneAt } from "./moment-text.ts";
import {
  asType,
  type InputKind,
  inputOf,
  type ScalarType,
  scalarTypes,
  typeMistake,
  typeOfValues,
} from "./operator-inputs.ts";
import { labelOf } from "./row-props.tsx";
import { Tags } from "./tags.tsx";

export interface ValueProps {
  readonly condition: AttributeCondition;
  readonly onChange: (condition: AttributeCondition) => void;
  /** Such as "condition 2". */
  readonly name: string;
  readonly suggestions: readonly Scalar[];
  readonly error: string | undefined;
}

const typeLabels: Readonly<Record<ScalarType, string>> = {
  string: "texts",
  number: "numbers",
  boolean: "true or false",
};

const ScalarsInput = (props: ValueProps) => {
  const { condition, onChange, name, suggestions, error } = props;
  const values = condition.values ?? [];
  const [chosen, setChosen] = useState<ScalarType>("string");
  const type = typeOfValues(values, chosen);
  const mistake = typeMistake(values, type);
  const wrong = values.filter((value) => typeof value !== type).map(String);
  const set = (texts: readonly Scalar[], as: ScalarType) => {
    setChosen(as);
    const next = asType(texts, as, values);
    const { ignoreCase: _, ...rest } = condition;
    const areTexts = next.every((value) => typeof value === "string");
    onChange({ ...(areTexts ? condition : rest), values: next });
  };
  return (
    <>
      <NativeSelect
        label={labelOf("Type", name)}
        data={scalarTypes.map((each) => ({ value: each, label: typeLabels[each] }))}
        value={type}
        onChange={(event) => set(values, event.currentTarget.value as ScalarType)}
        className="condition-type"
      />
      {type === "boolean" ? (
        <Checkbox.Group
          label={labelOf("Values", name)}
          value={values.map(String)}
          onChange={(texts) => set(texts, type)}
          error={mistake ?? error}
          className="condition-value"
        >
          <Group gap="md" mt={6}>
            <Checkbox value="true" label="true" />
            <Checkbox value="false" label="false" />
            {wrong.map((text) => (
              <Checkbox key={text} value={text} label={text} />
            ))}
          </Group>
        </Checkbox.Group>
      ) : (
        <Tags
          values={values}
          name={name}
          suggestions={suggestions.filter((each) => typeof each === type)}
          error={mistake ?? error}
          placeholder={type === "number" ? "42" : "pro"}
          onTexts={(texts) => set(texts, type)}
        />
      )}
    </>
  );
};

const ListInput = (props: ValueProps & { readonly placeholder: string }) => {
  const { condition, onChange, suggestions } = props;
  return (
    <Tags
      {...props}
      values={condition.values ?? []}
      suggestions={suggestions.filter((each) => typeof each === "string")}
      onTexts={(values) => onChange({ ...condition, values })}
    />
  );
};

const without = (condition: AttributeCondition): AttributeCondition => {
  const { value: _, ...rest } = condition;
  return rest;
};

const NumberValue = ({ condition, onChange, name, error }: ValueProps) => {
  /** The text in the box while it is not a number, such as a minus sign. */
  const [typed, setTyped] = useState<string | undefined>();
  const { value } = condition;
  return (
    <NumberInput
      label={labelOf("Value", name)}
      value={typed ?? (typeof value === "number" ? value : "")}
      onChange={(next) => {
        setTyped(typeof next === "number" ? undefined : next);
        onChange(typeof next === "number" ? { ...condition, value: next } : without(condition));
      }}
      onBlur={() => setTyped(undefined)}
      error={error}
      className="condition-value"
    />
  );
};

const textOf = (value: Scalar | undefined): string => (value === undefined ? "" : String(value));

const TextValue = ({ condition, onChange, name, error }: ValueProps) => (
  <TextInput
    label={labelOf("Value", name)}
    value={textOf(condition.value)}
    onChange={(event) => onChange({ ...condition, value: event.currentTarget.value })}
    placeholder={inputOf(condition.op) === "version" ? "2.4.0" : "2026-11-14T12:00:00Z"}
    error={error}
    spellCheck={false}
    className="condition-value"
  />
);

const zoneLabel = (zone: string): string => {
  const name = zone === "Z" ? "UTC" : `UTC${zone}`;
  return zone === zoneAt("") ? `${name} (yours now)` : name;
};

const MomentValue = (props: ValueProps) => {
  const { condition, onChange, name, error } = props;
  const text = textOf(condition.value);
  const [zoneOfNone, setZoneOfNone] = useState("Z");
  const parts = partsOfMoment(text);
  if (parts === undefined && text !== "") return <TextValue {...props} />;
  const { local, zone } = parts ?? { local: "", zone: zoneOfNone };
  const set = (nextLocal: string, nextZone: string) => {
    // A field is empty while a part of its date is typed anew.
    setZoneOfNone(nextZone);
    onChange(
      nextLocal === ""
        ? without(condition)
        : { ...condition, value: momentOf({ local: nextLocal, zone: nextZone }) },
    );
  };
  const zones = [...new Set(["Z", zoneAt(""), zoneAt(local), zone])];
  return (
    <>
      <TextInput
        type="datetime-local"
        step={1}
        label={labelOf("Date and time", name)}
        description={parts === undefined ? undefined : `Your time: ${formatDate(text)}`}
        value={local}
        onChange={(event) => set(event.currentTarget.value, zone)}
        error={error}
        className="condition-value"
      />
      <NativeSelect
        label={labelOf("Zone", name)}
        data={zones.map((each) => ({ value: each, label: zoneLabel(each) }))}
        value={zone}
        onChange={(event) => set(local, event.currentTarget.value)}
        className="condition-type"
      />
    </>
  );
};

const PresenceInput = ({ condition, onChange, name, error }: ValueProps) => (
  <NativeSelect
    label={labelOf("Answer", name)}
    data={[
      { value: "true", label: "yes: present and not null" },
      { value: "false", label: "no: missing or null" },
    ]}
    value={String(condition.value)}
    onChange={(event) => onChange({ ...condition, value: event.currentTarget.value === "true" })}
    error={error}
    className="condition-value"
  />
);

const UnknownInput = ({ condition, name }: ValueProps) => (
  <div className="condition-value">
    <span>This page does not know the comparison of {name}: edit it as JSON.</span>
    <pre className="condition-unknown">{JSON.stringify(condition.values ?? condition.value)}</pre>
  </div>
);

const inputs: Readonly<Record<InputKind, (props: ValueProps) => ReactNode>> = {
  scalars: (props) => <ScalarsInput {...props} />,
  texts: (props) => <ListInput {...props} placeholder="@acme.com" />,
  networks: (props) => <ListInput {...props} placeholder="192.0.2.0/24" />,
  number: (props) => <NumberValue {...props} />,
  version: (props) => <TextValue {...props} />,
  moment: (props) => <MomentValue {...props} />,
  presence: (props) => <PresenceInput {...props} />,
  unknown: (props) => <UnknownInput {...props} />,
};

export const ValueInput = (props: ValueProps) => inputs[inputOf(props.condition.op)](props);
