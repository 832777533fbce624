// The attributes of a context as rows: a name, what kind of value it is, and the value.
import type { EvaluationContext } from "@halyard/core/context";
import { Autocomplete, Button, CloseButton, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import type { SuggestedNames } from "../collect-names.ts";
import { labelOf } from "../conditions/row-props.tsx";
import { useRowFocus } from "../row-focus.ts";

type Kind = "text" | "number" | "yes or no" | "JSON";

/** The value is a text while it is typed; one that is not of its kind is left out. */
interface Row {
  readonly name: string;
  readonly kind: Kind;
  readonly text: string;
  /** The flag asks for it; left out until something is typed. */
  readonly isOffered?: boolean;
}

const kinds: readonly Kind[] = ["text", "number", "yes or no", "JSON"];

const rowOf = ([name, value]: readonly [string, unknown]): Row => {
  if (typeof value === "string") return { name, kind: "text", text: value };
  if (typeof value === "number") return { name, kind: "number", text: String(value) };
  if (typeof value === "boolean") return { name, kind: "yes or no", text: String(value) };
  return { name, kind: "JSON", text: JSON.stringify(value) };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const offered = (name: string, { valuesOf }: SuggestedNames): Row => {
  const values = valuesOf(name);
  const isNumber = values.length > 0 && values.every((value) => typeof value === "number");
  return { name, kind: isNumber ? "number" : "text", text: "", isOffered: true };
};

/** Undefined when the text is not of its kind. */
const rowValue = ({ kind, text, isOffered = false }: Row): unknown => {
  if (isOffered) return undefined;
  if (kind === "text") return text;
  const value = parsed(text);
  if (kind === "number") return typeof value === "number" ? value : undefined;
  return kind === "yes or no" ? text === "true" : value;
};

const mistakeOf = (row: Row): string | undefined => {
  if (rowValue(row) !== undefined) return undefined;
  return row.kind === "number" ? "This is not a number." : "This is not JSON.";
};

interface AttributeRowsProps {
  readonly context: EvaluationContext;
  readonly names: SuggestedNames;
  /** What the flag's rules ask for: each has a row. */
  readonly asked: readonly string[];
  readonly onChange: (next: EvaluationContext) => void;
}

export const AttributeRows = ({ context, names, asked, onChange }: AttributeRowsProps) => {
  const { targetingKey, ...attributes } = context;
  const [rows, setRows] = useState<readonly Row[]>(() => [
    ...Object.entries(attributes).map(rowOf),
    ...asked.filter((name) => !(name in attributes)).map((name) => offered(name, names)),
  ]);
  const { box, removing, adding } = useRowFocus<HTMLDivElement>(".try-row");
  const set = (next: readonly Row[]) => {
    setRows(next);
    const known = next
      .map((row) => [row.name.trim(), rowValue(row)] as const)
      .filter(([name, value]) => name !== "" && name !== "targetingKey" && value !== undefined);
    onChange({
      ...(targetingKey !== undefined && { targetingKey }),
      ...Object.fromEntries(known),
    });
  };
  const change = (index: number, part: Partial<Row>) => {
    const row = rows[index];
    if (row) set(rows.with(index, { ...row, isOffered: false, ...part }));
  };
  const chooseKind = (index: number, kind: Kind) =>
    change(index, { kind, ...(kind === "yes or no" && { text: "true" }) });
  const remove = (index: number) => {
    removing(index);
    set(rows.toSpliced(index, 1));
  };
  const suggested = names.attributes.filter(
    (name) => name !== "targetingKey" && !rows.some((row) => row.name === name),
  );
  return (
    <div className="try-rows" ref={box}>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, whatever its name
        <div key={index} className="try-row">
          <Autocomplete
            label={labelOf("Attribute", `row ${index + 1}`)}
            data={suggested}
            value={row.name}
            onChange={(name) => change(index, { name })}
            limit={50}
            classNames={{ input: "mono" }}
          />
          <NativeSelect
            label={labelOf("Kind", `row ${index + 1}`)}
            data={[...kinds]}
            value={row.kind}
            onChange={(event) => {
              const kind = kinds.find((each) => each === event.currentTarget.value);
              if (kind) chooseKind(index, kind);
            }}
          />
          {row.kind === "yes or no" ? (
            <NativeSelect
              label={labelOf("Value", `row ${index + 1}`)}
              data={[
                { value: "true", label: "yes (true)" },
                { value: "false", label: "no (false)" },
              ]}
              value={row.text}
              onChange={(event) => change(index, { text: event.currentTarget.value })}
            />
          ) : (
            <TextInput
              label={labelOf("Value", `row ${index + 1}`)}
              value={row.text}
              onChange={(event) => change(index, { text: event.currentTarget.value })}
              error={row.text === "" ? undefined : mistakeOf(row)}
              autoComplete="off"
              spellCheck={false}
            />
          )}
          <CloseButton
            aria-label={`Remove the attribute ${row.name === "" ? `of row ${index + 1}` : row.name}`}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      <Button
        variant="default"
        size="compact-sm"
        className="try-add"
        data-add
        onClick={() => {
          adding();
          set([...rows, { name: "", kind: "text", text: "" }]);
        }}
      >
        Add attribute
      </Button>
    </div>
  );
};
