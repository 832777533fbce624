// Evaluates the same random flags for the same random users with another product's SDK, and with the imported flags.
import { isIP } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { Attributes, EvaluationContext } from "@halyard/core/context";
import { type Converted, convert } from "../../../src/flags-file/importers/convert.ts";
import type { Product } from "../../../src/flags-file/importers/importers.ts";
import { readProduct } from "../../../src/flags-file/importers/read-product.ts";
import { evaluator } from "../import-fixtures.ts";
import { type Random, randomFrom } from "./random.ts";

/** A user as a context for the product's SDK and as one for Halyard. */
export interface Person {
  readonly theirs: unknown;
  readonly ours: EvaluationContext;
}

/** One document of the product, loaded by its SDK. */
export interface Loaded {
  /** The value from the SDK; undefined if the application's default applies. */
  readonly evaluate: (flag: string, theirs: unknown) => unknown;
  readonly close?: () => void | Promise<void>;
}

export interface Trial {
  readonly product: Product;
  readonly environment?: string;
  readonly packageName: string;
  readonly version: string;
  readonly document: (random: Random) => unknown;
  readonly person: (random: Random) => Person;
  /** `sdk` loads a package from the folder in which it is installed. */
  readonly load: (document: unknown, sdk: (name: string) => unknown) => Loaded | Promise<Loaded>;
}

export interface Difference {
  readonly flag: string;
  readonly person: Person;
  readonly theirs: unknown;
  readonly ours: unknown;
  readonly notes: readonly string[];
  readonly document: unknown;
  readonly converted: Converted;
}

export interface Result {
  evaluations: number;
  /** Evaluations of flags that were not imported. */
  leftOut: number;
  /** The number of flags according to the import's report. */
  readonly flags: { whole: number; noted: number; leftOut: number };
  reported: number;
  readonly silent: Difference[];
}

const expectations: Record<string, (value: unknown) => boolean> = {
  "true or false": (value) => typeof value === "boolean",
  "not a list": (value) => !Array.isArray(value),
  "a string, a number or true or false": (value) => typeof value !== "object",
  present: (value) => value !== undefined && value !== null && value !== "",
  "not empty": (value) => value !== "",
  "not empty, zero or false": (value) => value !== "" && value !== 0 && value !== false,
  "an IP address": (value) => typeof value === "string" && isIP(value) !== 0,
  "never null": (value) => value !== null,
  "a number, or a string such as 12.5": (value) =>
    typeof value === "number" ||
    (typeof value === "string" && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value)),
  "a version such as 2.5.0": (value) =>
    typeof value === "string" && /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(value),
  "milliseconds or a time such as 2026-11-14T12:00:00Z": (value) =>
    typeof value === "number" ||
    (typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)),
  "true or false, or written so": (value) => ["true", "false"].includes(String(value)),
  "a time such as 2026-11-14T12:00:00Z": (value) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value),
  "a time such as 2026-11-14T12:00:00.000Z": (value) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
};
for (const type of ["string", "number", "boolean"]) {
  const isOne = (value: unknown) => typeof value === type;
  expectations[`a ${type}`] = isOne;
  expectations[`a list of ${type}s`] = (value) => Array.isArray(value) && value.every(isOne);
}

const valueAt = (context: EvaluationContext, attribute: string): unknown =>
  attribute.startsWith("/")
    ? attribute
        .slice(1)
        .split("/")
        .reduce<unknown>((value, step) => (value as Record<string, unknown>)?.[step], context)
    : (context as Attributes)[attribute];

/** Whether the value is of one of these kinds. */
const fits = (value: unknown, expected: string): boolean => {
  const known = expectations[expected];
  if (known !== undefined) return known(value);
  const parts = expected.replace("true or false", "a boolean").split(" or ");
  if (parts.length < 2)
    throw new Error(`the comparison does not know this expectation: ${expected}`);
  return parts.some((part) => fits(value, part));
};

const exactPattern = /exact only if (.*)$/;

/** A note explains a difference if the user's attributes violate its condition, or if it applies to everyone. */
const explains = (note: string, { ours }: Person, theirs: unknown): boolean => {
  if (/is left out|while it is off; Flagsmith/.test(note)) return true;
  if (/in the code|the program uses its default/.test(note)) return theirs === undefined;
  const exact = exactPattern.exec(note)?.[1];
  if (exact === undefined) return false;
  return exact.split(" and ").some((each) => {
    const [, attribute = "", expected = ""] = /^(\S+) is (.*)$/.exec(each) ?? [];
    const value = valueAt(ours, attribute);
    // Unless the note says "present", users without the attribute get exactly the same value.
    const isMissing = value === undefined || value === null;
    return (
      (!isMissing || expected === "present" || expected === "never null") && !fits(value, expected)
    );
  });
};

/** Includes the notes of prerequisites. */
const notesOf = (key: string, { notes, flags }: Converted): string[] => {
  const own = notes.filter((note) => note.key === key).map(({ note }) => note);
  const required = flags.find((flag) => flag.key === key)?.requires ?? [];
  const isSaid = own.some((note) => note.startsWith("requires "));
  return isSaid
    ? [...own, ...required.flatMap(({ flag }) => notesOf(flag, { notes, flags } as Converted))]
    : own;
};

export const compare = async (
  trial: Trial,
  sdk: (name: string) => unknown,
  { seed = 1, wanted = 5_000, people = 40 } = {},
): Promise<Result> => {
  const { product, environment } = trial;
  const random = randomFrom(seed);
  const flags = { whole: 0, noted: 0, leftOut: 0 };
  const result: Result = { evaluations: 0, leftOut: 0, flags, reported: 0, silent: [] };
  while (result.evaluations < wanted) {
    const document = trial.document(random);
    const loaded = await trial.load(document, sdk);
    const { found, segments = [] } = readProduct(product, { value: document, environment });
    const converted = convert(found, segments, {});
    flags.whole += converted.counts.whole;
    flags.noted += converted.counts.withNotes;
    flags.leftOut += converted.counts.leftOut;
    const evaluate = evaluator(converted);
    const persons = Array.from({ length: people }, () => trial.person(random));
    result.leftOut += converted.leftOut.length * people;
    for (const { key } of converted.flags) {
      const notes = notesOf(key, converted);
      for (const person of persons) {
        result.evaluations += 1;
        const theirs = await loaded.evaluate(key, person.theirs);
        const ours = evaluate(key, person.ours).value;
        if (isDeepStrictEqual(theirs, ours)) continue;
        if (notes.some((note) => explains(note, person, theirs))) result.reported += 1;
        else result.silent.push({ flag: key, person, theirs, ours, notes, document, converted });
      }
    }
    await loaded.close?.();
  }
  return result;
};
