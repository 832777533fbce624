// The output of `halyard types`: a TypeScript interface with each flag's variants and values, in a fixed order.
import { choiceOf, type Flag, isFlag } from "@halyard/core/flags/registry";

const byName = (one: string, other: string): number => (one < other ? -1 : 1);

const sorted = (fields: object): [string, unknown][] =>
  Object.entries(fields).sort(([one], [other]) => byName(one, other));

/** Quotes names only if needed, as formatters do. */
const nameOf = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key));

const union = (types: readonly string[]): string => [...new Set(types)].sort(byName).join(" | ");

/** Values inside an object get their type, not a literal, because applications set them. */
const shapeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) {
    return `readonly (${value.length === 0 ? "unknown" : union(value.map(shapeOf))})[]`;
  }
  const fields = sorted(value).map(
    ([name, field]) => `readonly ${nameOf(name)}: ${shapeOf(field)}`,
  );
  return fields.length === 0 ? "Record<string, never>" : `{ ${fields.join("; ")} }`;
};

const typeOfValue = (value: unknown): string =>
  typeof value === "object" ? shapeOf(value) : JSON.stringify(value);

const variantsOf = (flag: Flag): string =>
  sorted(choiceOf(flag).variants)
    .map(([name, value]) => `${nameOf(name)}: ${typeOfValue(value)}`)
    .join("; ");

const commentOf = ({ description }: Flag): readonly string[] => {
  const line = (description ?? "").replace(/\s+/g, " ").replaceAll("*/", "*\\/").trim();
  return line === "" ? [] : [`  /** ${line} */`];
};

const openFeatureKinds = ["boolean", "string", "number", "object"] as const;

/** OpenFeature lets applications replace its type for the keys of each kind of flag. */
const openFeatureTypes = (flags: readonly Flag[]): readonly string[] => [
  "",
  'declare module "@openfeature/core" {',
  ...openFeatureKinds.flatMap((kind) => {
    const keys = flags
      .filter((flag) =>
        Object.values(choiceOf(flag).variants).every((each) => typeof each === kind),
      )
      .map(({ key }) => JSON.stringify(key));
    const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}FlagKey`;
    if (keys.length === 0) return [`  export type ${name} = never;`];
    return [`  export type ${name} =`, `${keys.map((key) => `    | ${key}`).join("\n")};`];
  }),
  "}",
];

/** Leaves out flags of a newer server that this version can't evaluate. */
export const typesOf = (all: readonly Flag[], openFeature: boolean): string => {
  const flags = all.filter(isFlag).sort((one, other) => byName(one.key, other.key));
  return [
    "// Written by `halyard types`. Don't edit or format this file: write it again.",
    "",
    "/** Each flag with its variants and their values. */",
    "export interface Flags {",
    ...flags.flatMap((flag) => [
      ...commentOf(flag),
      `  ${nameOf(flag.key)}: { ${variantsOf(flag)} };`,
    ]),
    "}",
    ...(openFeature ? openFeatureTypes(flags) : []),
    "",
  ].join("\n");
};

/** The significant lines: comments and line ends can differ. */
const linesOf = (text: string): readonly string[] =>
  text.split(/\r?\n/).filter((line) => !/^\s*($|\/\/|\/\*\*)/.test(line));

const flagsIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    linesOf(text).flatMap((line) => {
      const [, key, variants] = /^ {2}"?([\w.-]+)"?: (\{.*\});$/.exec(line) ?? [];
      return key === undefined || variants === undefined ? [] : [[key, variants] as const];
    }),
  );

export interface TypesDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Undefined if the files are equivalent. The lists are empty if flags are the same and something else differs. */
export const differenceOf = (written: string, current: string): TypesDifference | undefined => {
  if (linesOf(written).join("\n") === linesOf(current).join("\n")) return undefined;
  const [before, after] = [flagsIn(written), flagsIn(current)];
  const [keysBefore, keysAfter] = [[...before.keys()], [...after.keys()]];
  return {
    added: keysAfter.filter((key) => !before.has(key)),
    removed: keysBefore.filter((key) => !after.has(key)),
    changed: keysAfter.filter((key) => before.has(key) && before.get(key) !== after.get(key)),
  };
};
