// The values of a flag: true and false, or variants of one type.
import type { FlagValue } from "@halyard/core/evaluate";
import type { ValueType } from "@halyard/core/flags/variant";
import { isFields } from "../../loose-values.ts";
import { keysFor } from "./names.ts";

export type Values =
  | { readonly valueType: "boolean"; readonly off: "off" }
  | {
      readonly valueType: ValueType;
      readonly variants: Readonly<Record<string, FlagValue>>;
      /** The variant while the flag is off. */
      readonly off: string;
    };

export const onOff: Values = { valueType: "boolean", off: "off" };

const typeOf = (value: unknown): ValueType | "boolean" | undefined => {
  if (isFields(value)) return "object";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : undefined;
};

/** The type of all of them; undefined when there is none. */
export const typeOfAll = (values: readonly unknown[]): ValueType | "boolean" | undefined => {
  const [first] = values;
  const type = typeOf(first);
  return values.every((value) => typeOf(value) === type) ? type : undefined;
};

export const severalTypes = "has values that are not all true and false, texts, numbers or objects";

export const onOrOff = (value: unknown): "on" | "off" => (value === true ? "on" : "off");

const longestShown = 40;

/** The name of a value that has none in the other product. */
const nameOf = (value: unknown): string =>
  typeof value === "number" || (typeof value === "string" && value.length <= longestShown)
    ? String(value)
    : "";

/** Names for the values, in their order; those that are the same share one. */
export const nameValues = (
  values: readonly unknown[],
  given: readonly (string | undefined)[] = [],
): { variants: Record<string, FlagValue>; names: string[] } => {
  const texts = values.map((value) => JSON.stringify(value));
  const first = texts.map((text) => texts.indexOf(text));
  const own = [...new Set(first)];
  const keys = keysFor(
    own.map((index) => given[index] ?? nameOf(values[index])),
    "variant",
  );
  const names = first.map((index) => keys[own.indexOf(index)] ?? "");
  const variants = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  return { variants: variants as Record<string, FlagValue>, names };
};
