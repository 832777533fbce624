// The values of one context by flag key, and whether they are those of the present context.
import type { FlagValue } from "@halyard/core/evaluate";
import { ResultCounter } from "@halyard/core/result-counts";
import { type Details, failedDetails, isLike, mismatch, notFound, notReady } from "../details.ts";
import { frozenCopy } from "../frozen-copy.ts";
import type { ContextValue } from "./context-values.ts";

export interface ValueTable {
  /** Also of values that are withheld: their counts are still to be reported. */
  readonly entries: () => Iterable<ContextValue>;
  /** Takes values until the server's are loaded. */
  bootstrap(values: Readonly<Record<string, FlagValue>>): void;
  /** Takes the values of the present context. Returns the keys whose values changed; the first values are not a change. */
  replace(values: ReadonlyMap<string, Details<FlagValue>>): readonly string[];
  /** The context is another one. Returns the keys whose values changed: none, unless they are withheld. */
  outdate(isWithheld: boolean): readonly string[];
  details<Value extends FlagValue>(
    key: string,
    fallback: Value,
    why: { readonly message: string } | undefined,
  ): Details<Value>;
  readonly values: () => Readonly<Record<string, FlagValue>>;
}

const isSame = (one: object, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A response to a client key does not say which variant is off; the value or the reason shows it. */
const isOff = ({ value, reason }: Details<FlagValue>): boolean =>
  value === false || reason === "DISABLED" || reason === "PREREQUISITE_FAILED";

export const createValueTable = (): ValueTable => {
  const entries = new Map<string, ContextValue>();
  /** Of the present context, of the one before, or of the one before and not to be used. */
  let held: "none" | "current" | "previous" | "withheld" = "none";
  const isUsable = () => held === "current" || held === "previous";

  const put = (key: string, details: Details<FlagValue>): boolean => {
    const entry = entries.get(key);
    if (entry === undefined) entries.set(key, { key, on: 0, off: 0, details: frozenCopy(details) });
    else if (isSame(entry.details, details)) return false;
    else entry.details = frozenCopy(details);
    return true;
  };

  const count = (entry: ContextValue): void => {
    const { value, variant } = entry.details;
    if (isOff(entry.details)) entry.off += 1;
    else entry.on += 1;
    // Of flags that are on or off, the server makes this out of the counts.
    if (typeof value === "boolean" || variant === undefined) return;
    entry.results ??= new ResultCounter();
    entry.results.add({ variants: { [variant]: 1 } });
  };

  return {
    entries: () => entries.values(),
    bootstrap(values) {
      for (const [key, value] of Object.entries(values)) {
        const variant = typeof value === "boolean" && { variant: value ? "on" : "off" };
        put(key, { value, ...variant, reason: "CACHED" });
        held = "current";
      }
    },
    replace(values) {
      const removed = [...entries.keys()].filter((key) => !values.has(key));
      for (const key of removed) entries.delete(key);
      const changed = [...values].filter(([key, details]) => put(key, details)).map(([key]) => key);
      const before = held;
      held = "current";
      if (before === "none") return [];
      // The fallbacks applied until now.
      return before === "withheld" ? [...values.keys()] : [...removed, ...changed];
    },
    outdate(isWithheld) {
      const keys = isWithheld && isUsable() ? [...entries.keys()] : [];
      if (isUsable()) held = isWithheld ? "withheld" : "previous";
      return keys;
    },
    details<Value extends FlagValue>(
      key: string,
      fallback: Value,
      why: { readonly message: string } | undefined,
    ): Details<Value> {
      if (!isUsable()) return notReady(fallback, why);
      const entry = entries.get(key);
      if (entry === undefined) return notFound(fallback, key);
      const found = entry.details;
      const { value, errorCode, errorMessage = "" } = found;
      if (errorCode !== undefined) return failedDetails(fallback, errorCode, errorMessage);
      if (!isLike(value, fallback)) return mismatch(fallback, key, value);
      count(entry);
      return (held === "current" ? found : { ...found, reason: "STALE" }) as Details<Value>;
    },
    values: () =>
      Object.fromEntries(
        [...entries.values()]
          .filter(({ details }) => isUsable() && details.errorCode === undefined)
          .map(({ key, details }) => [key, details.value]),
      ),
  };
};
