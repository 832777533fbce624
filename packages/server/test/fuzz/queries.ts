// Parameters of an operation -> query strings: valid ones, and broken ones.
import fc, { type Arbitrary } from "fast-check";
import type { Parameter } from "./document.ts";
import { fitting, junk, type Meanings } from "./values.ts";

/** Longer ones would be too much for the head of a request. */
const longestValue = 1_000;
const textual = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(text.slice(0, longestValue).toWellFormed());
};

const strange = fc.constantFrom(
  ...["unknown=1", "__proto__=1", "limit=1&limit=2", "limit[]=1", "q=%00", "q=%zz", "=", "&&"],
  ...["cursor=", "cursor=AAAA", "limit=1e3", "limit=%2B5", "enabled=1", "constructor[x]=1"],
);

/** Without these, every request fails. */
const needed: ReadonlySet<string> = new Set(["token", "flags"]);
/** No request with this succeeds: it takes an owner's key of the same environment. */
const never: ReadonlySet<string> = new Set(["bypass"]);
/** The second one contradicts the first. */
const contradictions = [
  ["at", "revision"],
  ["tag", "subject"],
] as const;
/** The first one needs the second. */
const dependencies = [["id", "subject"]] as const;

type Given = ReadonlyMap<string, string>;

const withoutContradictions = (given: Given): Given => {
  const kept = new Map(given);
  for (const [first, second] of contradictions) if (kept.has(first)) kept.delete(second);
  for (const [first, second] of dependencies) if (!kept.has(second)) kept.delete(first);
  return kept;
};

const joined = (given: Given): string =>
  [...given].map(([name, value]) => `${name}=${value}`).join("&");

interface Known {
  readonly meanings: Meanings;
  readonly parameters: Meanings;
}

export const queryOf = (
  all: readonly Parameter[],
  { meanings, parameters }: Known,
  isGood: boolean,
): Arbitrary<string> => {
  const good = ({ name, schema }: Parameter): Arbitrary<unknown> =>
    parameters[name] ?? meanings[name] ?? fitting(schema, meanings);
  const some = (values: (parameter: Parameter) => Arbitrary<unknown>): Arbitrary<Given> =>
    fc
      .tuple(
        ...all.map((parameter) => {
          // Undefined: there is no such value, such as the cursor of a list with one page.
          const one = values(parameter).map((value) =>
            value === undefined ? null : ([parameter.name, textual(value)] as const),
          );
          return isGood && needed.has(parameter.name) ? one : fc.option(one, { freq: 2 });
        }),
      )
      .map((given) => new Map(given.filter((one) => one !== null)));
  if (isGood) {
    const usable = (parameter: Parameter) =>
      never.has(parameter.name) ? fc.constant(undefined) : good(parameter);
    return some(usable).map(withoutContradictions).map(joined);
  }
  const odd = some((parameter) => fc.oneof(good(parameter), junk)).map(joined);
  return fc
    .tuple(odd, fc.option(strange, { nil: "" }))
    .map((parts) => parts.filter((part) => part !== "").join("&"));
};
