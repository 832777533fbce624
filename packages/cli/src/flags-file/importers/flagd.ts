// Reads flag definitions of flagd: boolean variants, a default, and at most one fractional split.

import { type Fields, fieldsOf, isFields, textOf } from "../loose-values.ts";
import type { Found, State } from "./convert.ts";
import { notAPercentage, percentageOf } from "./percentage.ts";
import { type Importer, notFrom } from "./source.ts";

const definitionsOf = (value: unknown): [name: string, definition: Fields][] => {
  const { flags } = fieldsOf(value);
  if (Array.isArray(flags)) {
    return flags.map(fieldsOf).map((flag) => [textOf(flag.key) ?? "", flag]);
  }
  if (!isFields(flags)) {
    throw notFrom("flagd", 'an object with "flags" is expected, as flagd reads it');
  }
  return Object.entries(flags).map(([name, flag]) => [name, fieldsOf(flag)]);
};

const isVariable = (value: unknown, name: string): boolean => {
  const variable = isFields(value) ? value.var : undefined;
  return variable === name || (Array.isArray(variable) && variable[0] === name);
};

/** Whether the split is by the targeting key, as in Halyard. */
const goesByTargetingKey = (value: unknown): boolean => {
  if (isVariable(value, "targetingKey")) return true;
  const parts = isFields(value) ? value.cat : undefined;
  return (
    Array.isArray(parts) &&
    parts.some((part) => isVariable(part, "targetingKey")) &&
    parts.every(
      (part) =>
        typeof part === "string" ||
        isVariable(part, "targetingKey") ||
        isVariable(part, "$flagd.flagKey"),
    )
  );
};

/** Undefined when it is not a variant, or neither true nor false. */
const variantValue = (variants: Fields, name: unknown): boolean | undefined => {
  const value =
    typeof name === "string" && Object.hasOwn(variants, name) ? variants[name] : undefined;
  return typeof value === "boolean" ? value : undefined;
};

const readSplit = (
  variants: Fields,
  fallback: boolean | undefined,
  split: readonly unknown[],
): { state: State; reasons: string[] } => {
  const reasons: string[] = [];
  const [first, ...rest] = split;
  const parts = Array.isArray(first) ? split : rest;
  if (!Array.isArray(first) && !goesByTargetingKey(first)) {
    reasons.push("splits by something other than the targeting key");
  }
  let on = 0;
  let total = 0;
  for (const part of parts) {
    const [name, weight = 1] = Array.isArray(part) ? part : [];
    const value = name === null ? fallback : variantValue(variants, name);
    if (value === undefined || typeof weight !== "number" || weight < 0) {
      reasons.push("has a split that is not of variants with weights");
      break;
    }
    total += weight;
    if (value) on += weight;
  }
  const share = percentageOf(on, total);
  if (share === undefined && reasons.length === 0) reasons.push(notAPercentage(`${on} / ${total}`));
  return { state: { type: "rollout", enabled: true, percentage: share ?? 0 }, reasons };
};

const readDefinition = ([name, flag]: [string, Fields]): Found => {
  const variants = fieldsOf(flag.variants);
  const values = Object.values(variants);
  const description = textOf(fieldsOf(flag.metadata).description);
  const isDisabled = flag.state === "DISABLED";
  const base = { name, description } as const;
  const off = { type: "boolean", enabled: false } as const;
  if (values.length === 0 || !values.every((value) => typeof value === "boolean")) {
    return { ...base, state: off, reasons: ["has values other than true and false"] };
  }
  const fallback = variantValue(variants, flag.defaultVariant);
  const missing =
    fallback === undefined ? ["has no default variant: the default in the code applies"] : [];
  const notes = isDisabled
    ? ["is disabled: flagd then returns the default in the code, Halyard returns false"]
    : [];
  const { targeting } = flag;
  if (!isFields(targeting) || Object.keys(targeting).length === 0) {
    const state = { type: "boolean", enabled: !isDisabled && fallback === true } as const;
    return { ...base, state, reasons: missing, notes };
  }
  const { fractional, ...others } = targeting;
  if (!Array.isArray(fractional) || Object.keys(others).length > 0) {
    return { ...base, state: off, reasons: ["has targeting rules", ...missing] };
  }
  const { state, reasons } = readSplit(variants, fallback, fractional);
  return {
    ...base,
    state: { ...state, enabled: !isDisabled },
    reasons: [...reasons, ...missing],
    notes,
  };
};

export const readFlagd: Importer = ({ value, environment }) => {
  if (environment !== undefined) {
    throw notFrom("flagd", "its files have no environments: omit --environment");
  }
  return { found: definitionsOf(value).map(readDefinition) };
};
