// The values of a flag: boolean, or variants of one type.
import type { FlagValue } from "@halyard/core/evaluate";
import type { ValueType } from "@halyard/core/flags/variant";
import { type Fields, isFields } from "../../loose-values.ts";
import { CannotTranslate } from "./logic.ts";
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

/** The common type of the values; undefined if there is none. */
export const typeOfAll = (values: readonly unknown[]): ValueType | "boolean" | undefined => {
  const [first] = values;
  const type = typeOf(first);
  return values.every((value) => typeOf(value) === type) ? type : undefined;
};

export const severalTypes = "has values of several types or of unsupported ones";

/** The values of named variants; undefined if they are of several types. */
export const valuesOf = (variants: Fields, off: string): Values | undefined => {
  const valueType = typeOfAll(Object.values(variants));
  if (valueType === undefined) return undefined;
  if (valueType === "boolean") return onOff;
  return { valueType, variants: variants as Readonly<Record<string, FlagValue>>, off };
};

/** The variant with this name. */
export const variantNamed = (name: unknown, variants: Fields): string => {
  if (typeof name !== "string" || !Object.hasOwn(variants, name)) {
    throw new CannotTranslate(`serves the variant ${String(name)}, which does not exist`);
  }
  return typeof variants[name] === "boolean" ? onOrOff(variants[name]) : name;
};

/** The value while the flag is off. */
export const offValue = (values: Values): string =>
  values.valueType === "boolean" ? "false" : values.off;

export const onOrOff = (value: unknown): "on" | "off" => (value === true ? "on" : "off");

const longestShown = 40;

/** A name for an unnamed value. */
const nameOf = (value: unknown): string =>
  typeof value === "number" || (typeof value === "string" && value.length <= longestShown)
    ? String(value)
    : "";

/** Names for the values in order. Equal values share a name. */
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
