// A condition on an attribute in one row: the attribute, the operator and what it compares with.
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import { Autocomplete, Checkbox, NativeSelect } from "@mantine/core";
import { labelOfOperator, operatorGroups } from "../operator-labels.ts";
import { inputOf, mayHave, withOperator } from "./operator-inputs.ts";
import { labelOf, mistakeAt, type Shared, suggesting } from "./row-props.tsx";
import { ValueInput } from "./value-inputs.tsx";

interface AttributeRowProps {
  readonly condition: AttributeCondition;
  readonly onChange: (condition: AttributeCondition) => void;
  /** Such as "condition 2". */
  readonly name: string;
  readonly place: string;
  readonly shared: Shared;
}

const operatorData = operatorGroups.map(({ group, labels }) => ({
  group,
  items: Object.entries(labels).map(([value, label]) => ({ value, label })),
}));

/** An operator that a newer version has stays until another is chosen. */
const dataWith = (op: string) =>
  inputOf(op) === "unknown"
    ? [...operatorData, { group: "Newer", items: [{ value: op, label: labelOfOperator(op) }] }]
    : operatorData;

const without = (condition: AttributeCondition, member: "ignoreCase" | "as") => {
  const { [member]: _, ...rest } = condition;
  return rest;
};

const hasTexts = ({ op, values = [] }: AttributeCondition): boolean =>
  inputOf(op) !== "scalars" || values.every((value) => typeof value === "string");

export const AttributeRow = (props: AttributeRowProps) => {
  const { condition, onChange, name, place, shared } = props;
  const { attribute, op, ignoreCase, as } = condition;
  const { names, mistakes } = shared;
  const at = (member: string) => mistakeAt(mistakes, `${place}.${member}`);
  return (
    <div className="condition-fields">
      <Autocomplete
        label={labelOf("Attribute", name)}
        data={[...names.attributes]}
        {...suggesting}
        value={attribute}
        onChange={(next) => onChange({ ...condition, attribute: next })}
        error={at("attribute")}
        placeholder="plan"
        spellCheck={false}
        autoComplete="off"
        className="condition-attribute"
        data-place={`${place}.attribute`}
      />
      <NativeSelect
        label={labelOf("Comparison", name)}
        data={dataWith(op)}
        value={op}
        onChange={(event) => onChange(withOperator(condition, event.currentTarget.value))}
        error={at("op")}
        className="condition-operator"
        data-place={`${place}.op`}
      />
      <div
        className="condition-values"
        data-place={`${place}.${mayHave(op, "values") ? "values" : "value"}`}
      >
        <ValueInput
          key={op}
          condition={condition}
          onChange={onChange}
          name={name}
          suggestions={names.valuesOf(attribute)}
          error={at("values") ?? at("value")}
        />
      </div>
      {op === "notIn" && (
        <p className="condition-note dimmed">
          Nobody matches whose {attribute === "" ? "attribute" : attribute} is unknown.
        </p>
      )}
      {mayHave(op, "ignoreCase") && hasTexts(condition) && (
        <Checkbox
          label={labelOf("Ignore case", name)}
          checked={ignoreCase === true}
          onChange={(event) =>
            onChange(
              event.currentTarget.checked
                ? { ...condition, ignoreCase: true }
                : without(condition, "ignoreCase"),
            )
          }
        />
      )}
      {mayHave(op, "as") && (
        <Checkbox
          label={labelOf("Count a text such as “42” as a number", name)}
          checked={as === "number"}
          onChange={(event) =>
            onChange(
              event.currentTarget.checked
                ? { ...condition, as: "number" }
                : without(condition, "as"),
            )
          }
        />
      )}
    </div>
  );
};
