// The operators of conditions on an attribute: what each may be given, and how it decides.
import { asJson } from "./attribute.ts";
import { parseMoment } from "./moment.ts";
import { type Address, isWithin, parseAddress, parseNetwork } from "./network.ts";
import { compareVersions, parseVersion } from "./semver.ts";
import { foldCase, numberFrom } from "./texts.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth, truthOf } from "./truth.ts";

export type Scalar = string | number | boolean;

export interface AttributeCondition {
  /** A literal name, or a JSON Pointer when it begins with a slash. */
  readonly attribute: string;
  readonly op: string;
  readonly value?: Scalar;
  readonly values?: readonly Scalar[];
  readonly ignoreCase?: boolean;
  readonly as?: "number";
}

/** Decides about a value as JSON carries it; undefined when the attribute is missing. */
export type Decide = (value: unknown) => Truth;

interface Operator {
  /** The members beside `attribute` and `op`; those with a question mark may be absent. */
  readonly members: readonly string[];
  /** For a condition whose members have the right types: what `value` or `values` must be, when they are not. */
  readonly refuse: (condition: AttributeCondition) => string | undefined;
  readonly compile: (condition: AttributeCondition) => Decide;
}

const maxValues = 1_000;
const maxTexts = 100;
/** Up to so many values a look at each is as fast as a set. */
const shortList = 8;

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

const isList = (
  values: unknown,
  longest: number,
  isOne: (value: unknown) => boolean,
): values is readonly Scalar[] =>
  Array.isArray(values) && values.length >= 1 && values.length <= longest && values.every(isOne);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Whether a value is among the given ones, which are of one type. */
const membership = (values: readonly Scalar[]): ((value: unknown) => boolean) => {
  if (values.length > shortList) {
    const set = new Set<unknown>(values);
    return (value) => set.has(value);
  }
  return (value) => values.includes(value as Scalar);
};

const compileIn = ({ values = [], ignoreCase }: AttributeCondition): Decide => {
  const type = typeof values[0];
  const folds = ignoreCase === true && type === "string";
  const isAmong = membership(
    folds
      ? values.map((value) => foldCase(String(value)))
      : // Zero has one form.
        values.map((value) => (typeof value === "number" ? value + 0 : value)),
  );
  const decideOne = (value: unknown): Truth => {
    if (typeof value !== type) return isUnknown;
    return truthOf(isAmong(folds ? foldCase(value as string) : value));
  };
  return (value) => {
    if (!Array.isArray(value)) return decideOne(value);
    let truth: Truth = isFalse;
    for (let index = 0; index < value.length; index += 1) {
      const one = decideOne(asJson(value[index], index));
      if (one === isTrue) return isTrue;
      if (one === isUnknown) truth = isUnknown;
    }
    return truth;
  };
};

const oneType = (values: readonly Scalar[]): boolean =>
  values.every((value) => typeof value === typeof values[0]);

const refuseIn = ({ values, ignoreCase }: AttributeCondition): string | undefined => {
  if (!isList(values, maxValues, isScalar) || !oneType(values)) {
    return `must be a list of 1 to ${maxValues.toLocaleString("en")} texts, numbers or booleans, all of one type`;
  }
  return ignoreCase === true && typeof values[0] !== "string"
    ? "must be texts with ignoreCase"
    : undefined;
};

const among: Operator = {
  members: ["values", "ignoreCase?"],
  refuse: refuseIn,
  compile: compileIn,
};

const notAmong: Operator = {
  ...among,
  compile(condition) {
    const decide = compileIn(condition);
    return (value) => opposite(decide(value));
  },
};

const ofTexts = (holds: (text: string, part: string) => boolean): Operator => ({
  members: ["values", "ignoreCase?"],
  refuse: ({ values }) =>
    isList(values, maxTexts, isText)
      ? undefined
      : `must be a list of 1 to ${maxTexts} texts that are not empty`,
  compile({ values = [], ignoreCase }) {
    const fold = ignoreCase === true ? foldCase : (text: string) => text;
    const parts = values.map((value) => fold(String(value)));
    return (value) => {
      if (typeof value !== "string") return isUnknown;
      const text = fold(value);
      for (const part of parts) if (holds(text, part)) return isTrue;
      return isFalse;
    };
  },
});

const ofNumbers = (holds: (number: number, limit: number) => boolean): Operator => ({
  members: ["value", "as?"],
  refuse: ({ value }) =>
    typeof value === "number" && Number.isFinite(value) ? undefined : "must be a number",
  compile({ value, as }) {
    const limit = Number(value);
    const readsTexts = as === "number";
    return (found) => {
      const number =
        typeof found === "string" ? (readsTexts ? numberFrom(found) : undefined) : found;
      return typeof number === "number" ? truthOf(holds(number, limit)) : isUnknown;
    };
  },
});

/** On texts that stand for something with an order. */
const ofOrdered = <T>(
  parse: (text: string) => T | undefined,
  compare: (one: T, other: T) => number,
  mustBe: string,
  holds: (order: number) => boolean,
): Operator => ({
  members: ["value"],
  refuse: ({ value }) =>
    typeof value === "string" && parse(value) !== undefined ? undefined : `must be ${mustBe}`,
  compile({ value }) {
    const limit = parse(String(value));
    return (found) => {
      const one = typeof found === "string" ? parse(found) : undefined;
      return one === undefined || limit === undefined
        ? isUnknown
        : truthOf(holds(compare(one, limit)));
    };
  },
});

const ofVersions = (holds: (order: number) => boolean): Operator =>
  ofOrdered(parseVersion, compareVersions, "a semantic version such as 1.4.0", holds);

const ofMoments = (holds: (order: number) => boolean): Operator =>
  ofOrdered(
    parseMoment,
    (one, other) => one - other,
    "a time with a zone, such as 2026-11-14T12:00:00Z",
    holds,
  );

const exists: Operator = {
  members: ["value"],
  refuse: ({ value }) => (typeof value === "boolean" ? undefined : "must be true or false"),
  compile: ({ value }) => {
    const isWanted = value === true;
    return (found) => truthOf((found !== undefined && found !== null) === isWanted);
  },
};

const inCidr: Operator = {
  members: ["values"],
  refuse: ({ values }) =>
    isList(
      values,
      maxTexts,
      (value) => typeof value === "string" && parseNetwork(value) !== undefined,
    )
      ? undefined
      : `must be a list of 1 to ${maxTexts} networks such as 192.0.2.0/24, without bits behind the prefix`,
  compile({ values = [] }) {
    const networks = values.flatMap((value) => parseNetwork(String(value)) ?? []);
    return (value) => {
      const address: Address | undefined =
        typeof value === "string" ? parseAddress(value) : undefined;
      if (address === undefined) return isUnknown;
      return truthOf(networks.some((network) => isWithin(address, network)));
    };
  },
};

export const operators: Readonly<Record<string, Operator>> = {
  exists,
  in: among,
  notIn: notAmong,
  startsWith: ofTexts((text, part) => text.startsWith(part)),
  endsWith: ofTexts((text, part) => text.endsWith(part)),
  contains: ofTexts((text, part) => text.includes(part)),
  lt: ofNumbers((number, limit) => number < limit),
  lte: ofNumbers((number, limit) => number <= limit),
  gt: ofNumbers((number, limit) => number > limit),
  gte: ofNumbers((number, limit) => number >= limit),
  semverEq: ofVersions((order) => order === 0),
  semverLt: ofVersions((order) => order < 0),
  semverLte: ofVersions((order) => order <= 0),
  semverGt: ofVersions((order) => order > 0),
  semverGte: ofVersions((order) => order >= 0),
  before: ofMoments((order) => order < 0),
  after: ofMoments((order) => order > 0),
  inCidr,
};

export const operatorNames: readonly string[] = Object.keys(operators);

export const operatorNamed = (name: unknown): Operator | undefined =>
  typeof name === "string" && Object.hasOwn(operators, name) ? operators[name] : undefined;
