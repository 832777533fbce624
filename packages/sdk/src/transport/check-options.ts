// Rejects options that a client doesn't have and options of the wrong type, before anything starts.
import { standardTiming } from "./timing.ts";

/** The types of a value, as the message names them. */
type Kind = "array" | "boolean" | "false" | "function" | "number" | "object" | "string";
type Kinds = Kind | `${Kind} or ${Kind}`;

/** What each option must be. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, Kinds>>;

/** The options of both clients. */
export const commonKinds = {
  url: "string",
  key: "string",
  fetch: "function",
  streaming: "boolean",
  reportUsage: "boolean",
  timing: "object",
  log: "function or false",
  onTrack: "function",
  trackedEvaluations: "number",
} as const;

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  // No option can be a number that is negative or NaN.
  return typeof value === "number" && !(value >= 0) ? `${value}` : typeof value;
};

/** Throws a TypeError. Its message includes no values of options: one can be an API key in the wrong place. */
const checkOptions = (
  options: object,
  kinds: Readonly<Record<string, Kinds>>,
  place = "",
): void => {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const expected = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (!expected) {
      const known = Object.keys(kinds).sort().join(", ");
      throw new TypeError(`unknown option ${place}${name}; the known options are ${known}`);
    }
    const found = kindOf(value);
    const isAllowed = expected.includes(found) || (value === false && expected.endsWith("false"));
    if (value !== undefined && !isAllowed) {
      throw new TypeError(`the option ${place}${name} must be ${expected}, but is ${found}`);
    }
  }
};

const timingKinds = Object.fromEntries(
  Object.keys(standardTiming).map((name) => [name, "number"] as const),
);

export const checkClientOptions = (
  options: { readonly timing?: object | undefined },
  kinds: Readonly<Record<string, Kinds>>,
): void => {
  if (Object(options) !== options) throw new TypeError("the options must be an object");
  checkOptions(options, kinds);
  checkOptions(options.timing ?? {}, timingKinds, "timing.");
};
