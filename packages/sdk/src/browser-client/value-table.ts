// The values of one context by flag key, and whether they belong to the current context.
import type { FlagValue } from "@halyard/core/evaluate";
import { type Details, isLike, mismatch, notFound, notReady } from "../details.ts";
import { frozenCopy } from "../frozen-copy.ts";
import type { Counted, Tally } from "../transport/usage-report.ts";
import type { BulkResponse } from "./context-values.ts";

export interface ValueTable {
  /** Sets the values to use until the server's are loaded. Returns whether there are any. */
  bootstrap(values: Readonly<Record<string, FlagValue>>): boolean;
  /** Sets the values of the current context. Returns the keys whose values changed: none for the first values. */
  replace(values: BulkResponse["values"]): readonly string[];
  /** Marks the values as those of the previous context. Returns the keys whose values changed: none, unless they are withheld. */
  outdate(isWithheld: boolean): readonly string[];
  details<Value extends FlagValue>(
    key: string,
    fallback: Value,
    why: { readonly message: string } | undefined,
  ): Details<Value>;
  readonly values: () => Readonly<Record<string, FlagValue>>;
}

interface Entry {
  readonly details: Details<FlagValue>;
  readonly counted: Counted;
}

const isSame = (one: object | undefined, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const countedAs = (key: string, { value, variant, reason }: Details<FlagValue>): Counted => {
  // Responses to client keys omit which variant is off; the value or the reason shows it.
  const isOff = value === false || reason === "DISABLED" || reason === "PREREQUISITE_FAILED";
  // For flags that are on or off, the server derives the variants from the counts.
  const hasVariants = typeof value !== "boolean" && variant !== undefined;
  return (count) => ({
    key,
    on: isOff ? 0 : count,
    off: isOff ? count : 0,
    ...(hasVariants && { variants: { [variant]: count } }),
  });
};

export const createValueTable = (tally: Tally): ValueTable => {
  const entries = new Map<string, Entry>();
  let hasValues = false;
  /** The values are those of the previous context. */
  let isPrevious = false;
  /** The first values are not a change. */
  let isFirst = true;

  /** False if the value is the same as before. */
  const put = (key: string, details: Details<FlagValue>): boolean => {
    if (isSame(entries.get(key)?.details, details)) return false;
    entries.set(key, { details: frozenCopy(details), counted: countedAs(key, details) });
    return true;
  };

  const use = () => {
    hasValues = true;
    isPrevious = false;
    isFirst = false;
  };

  return {
    bootstrap(values) {
      for (const [key, value] of Object.entries(values)) {
        const variant = typeof value === "boolean" && { variant: value ? "on" : "off" };
        put(key, { value, ...variant, reason: "CACHED" });
        use();
      }
      return hasValues;
    },
    replace(values) {
      const changed = [...entries.keys()].filter((key) => !values.has(key));
      for (const key of changed) entries.delete(key);
      for (const [key, { details }] of values) if (put(key, details)) changed.push(key);
      const keys = isFirst ? [] : changed;
      use();
      return keys;
    },
    outdate(isWithheld) {
      isPrevious = true;
      if (!isWithheld) return [];
      const keys = [...entries.keys()];
      entries.clear();
      hasValues = false;
      return keys;
    },
    details<Value extends FlagValue>(
      key: string,
      fallback: Value,
      why: { readonly message: string } | undefined,
    ): Details<Value> {
      if (!hasValues) return notReady(fallback, why);
      const entry = entries.get(key);
      if (!entry) return notFound(fallback, key);
      const { details, counted } = entry;
      if (details.errorCode) return { ...details, value: fallback };
      if (!isLike(details.value, fallback)) return mismatch(fallback, key, details.value);
      tally.add(counted);
      return (isPrevious ? { ...details, reason: "STALE" } : details) as Details<Value>;
    },
    values: () =>
      Object.fromEntries(
        [...entries]
          .filter(([, { details }]) => details.errorCode === undefined)
          .map(([key, { details }]) => [key, details.value]),
      ),
  };
};
