// The operators of conditions on an attribute: their valid values, and how they decide.
import { parsed, type Turn } from "../turn.ts";
import { type Among, decideAmong } from "./among.ts";
import { asJson } from "./attribute.ts";
import { parseMoment } from "./moment.ts";
import { type Address, isWithin, parseAddress, parseNetwork } from "./network.ts";
import { compareVersions, parseVersion } from "./semver.ts";
import { foldCase, isShortText, numberFrom } from "./texts.ts";
import { isFalse, isTrue, isUnknown, type Truth, truthOf } from "./truth.ts";

export type Scalar = string | number | boolean;

export interface AttributeCondition {
  /** A literal name, or a JSON Pointer if it starts with a slash. */
  readonly attribute: string;
  readonly op: string;
  readonly value?: Scalar;
  readonly values?: readonly Scalar[];
  readonly ignoreCase?: boolean;
  readonly as?: "number";
}

/** Decides about a value in JSON form; undefined if the attribute is missing. */
export type Decide = (value: unknown, turn: Turn | undefined) => Truth;

/** The results for a value below, at and above a limit. */
type Order = readonly [below: Truth, at: Truth, above: Truth];

/**
 * The test of a condition. The most common conditions, short lists of strings and numeric limits, are data: deciding them
 * in the loop over the conditions is faster than a function call for each.
 */
export interface Question {
  /** Undefined unless the test is a short list of strings. */
  readonly texts: readonly unknown[] | undefined;
  readonly found: Truth;
  readonly other: Truth;
  /** Undefined unless the test is a numeric limit. */
  readonly order: Order | undefined;
  readonly limit: number;
  /** Decides values that the other fields don't. */
  readonly decide: Decide;
}

const questionOf = (
  decide: Decide,
  texts?: readonly unknown[],
  found: Truth = isUnknown,
  other: Truth = isUnknown,
  order?: Order,
  limit = 0,
): Question => ({ texts, found, other, order, limit, decide });

export const noQuestion: Question = questionOf(() => isUnknown);

const placed = (order: Order, value: number, limit: number): Truth =>
  value < limit ? order[0] : value > limit ? order[2] : order[1];

/** `value` is in JSON form, or the raw field of the context. */
export const answerTo = (
  question: Question,
  value: unknown,
  turn: Turn | undefined,
  name?: string,
): Truth => {
  if (typeof value === "string") {
    const { texts } = question;
    if (texts === undefined) return question.decide(value, turn);
    if (!isShortText(value)) return isUnknown;
    for (const text of texts) if (text === value) return question.found;
    return question.other;
  }
  if (typeof value === "number" && question.order !== undefined && Number.isFinite(value)) {
    return placed(question.order, value, question.limit);
  }
  // Values that JSON converts to another type, such as a Date, are decided in their JSON form.
  return name === undefined
    ? question.decide(value, turn)
    : answerTo(question, asJson(value, name), turn);
};

interface Operator {
  /** The fields in addition to `attribute` and `op`; those with a question mark are optional. */
  readonly members: readonly string[];
  /** Given fields of the right types, returns what is invalid about `value` or `values`. */
  readonly refuse: (condition: AttributeCondition) => string | undefined;
  readonly compile: (condition: AttributeCondition) => Question;
}

const maxValues = 1_000;
const maxTexts = 100;
/** Up to this number of values, scanning is as fast as a set. */
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

const compileAmong = (
  { values = [], ignoreCase }: AttributeCondition,
  found: Truth,
  other: Truth,
): Question => {
  const type = typeof values[0];
  const folds = ignoreCase === true && type === "string";
  const list = folds ? values.map((value) => foldCase(String(value))) : values;
  const set = list.length > shortList ? new Set<unknown>(list) : undefined;
  const among: Among = { type, folds, list, set, found, other };
  const texts = type === "string" && !folds && set === undefined ? list : undefined;
  return questionOf((value, turn) => decideAmong(among, value, turn), texts, found, other);
};

const oneType = (values: readonly Scalar[]): boolean =>
  values.every((value) => typeof value === typeof values[0]);

const refuseIn = ({ values, ignoreCase }: AttributeCondition): string | undefined => {
  if (!isList(values, maxValues, isScalar) || !oneType(values)) {
    return `must be a list of 1 to ${maxValues.toLocaleString("en")} strings, numbers or booleans, all of one type`;
  }
  return ignoreCase === true && typeof values[0] !== "string"
    ? "must be strings with ignoreCase"
    : undefined;
};

const ofLists = (found: Truth, other: Truth): Operator => ({
  members: ["values", "ignoreCase?"],
  refuse: refuseIn,
  compile: (condition) => compileAmong(condition, found, other),
});

const ofTexts = (holds: (text: string, part: string) => boolean): Operator => ({
  members: ["values", "ignoreCase?"],
  refuse: ({ values }) =>
    isList(values, maxTexts, isText)
      ? undefined
      : `must be a list of 1 to ${maxTexts} non-empty strings`,
  compile({ values = [], ignoreCase }) {
    const folds = ignoreCase === true;
    const parts = values.map((value) => (folds ? foldCase(String(value)) : String(value)));
    return questionOf((value, turn) => {
      if (!isShortText(value)) return isUnknown;
      const text = folds ? parsed(foldCase, value, turn) : value;
      for (const part of parts) if (holds(text, part)) return isTrue;
      return isFalse;
    });
  },
});

const isLess: Order = [isTrue, isFalse, isFalse];
const isAtMost: Order = [isTrue, isTrue, isFalse];
const isEqual: Order = [isFalse, isTrue, isFalse];
const isAtLeast: Order = [isFalse, isTrue, isTrue];
const isMore: Order = [isFalse, isFalse, isTrue];

const ofNumbers = (order: Order): Operator => ({
  members: ["value", "as?"],
  refuse: ({ value }) =>
    typeof value === "number" && Number.isFinite(value) ? undefined : "must be a number",
  compile({ value, as }) {
    const limit = Number(value);
    const readsTexts = as === "number";
    const decideOther: Decide = (found, turn) => {
      const number = readsTexts && isShortText(found) ? parsed(numberFrom, found, turn) : undefined;
      return number === undefined ? isUnknown : placed(order, number, limit);
    };
    return questionOf(decideOther, undefined, isUnknown, isUnknown, order, limit);
  },
});

/** For strings with an order, such as versions and times. */
const ofOrdered = <T>(
  parse: (text: string) => T | undefined,
  compare: (one: T, other: T) => number,
  mustBe: string,
  order: Order,
): Operator => ({
  members: ["value"],
  refuse: ({ value }) =>
    typeof value === "string" && parse(value) !== undefined ? undefined : `must be ${mustBe}`,
  compile({ value }) {
    const limit = parse(String(value));
    return questionOf((found, turn) => {
      const one = isShortText(found) ? parsed(parse, found, turn) : undefined;
      return one === undefined || limit === undefined
        ? isUnknown
        : placed(order, compare(one, limit), 0);
    });
  },
});

const ofVersions = (order: Order): Operator =>
  ofOrdered(parseVersion, compareVersions, "a semantic version such as 1.4.0", order);

const ofMoments = (order: Order): Operator =>
  ofOrdered(
    parseMoment,
    (one, other) => one - other,
    "a time with a zone, such as 2026-11-14T12:00:00Z",
    order,
  );

const exists: Operator = {
  members: ["value"],
  refuse: ({ value }) => (typeof value === "boolean" ? undefined : "must be true or false"),
  compile: ({ value }) => {
    const isWanted = value === true;
    return questionOf((found) => truthOf((found !== undefined && found !== null) === isWanted));
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
      : `must be a list of 1 to ${maxTexts} networks such as 192.0.2.0/24, without bits set after the prefix`,
  compile({ values = [] }) {
    const networks = values.flatMap((value) => parseNetwork(String(value)) ?? []);
    return questionOf((value, turn) => {
      const address: Address | undefined = isShortText(value)
        ? parsed(parseAddress, value, turn)
        : undefined;
      if (address === undefined) return isUnknown;
      return truthOf(networks.some((network) => isWithin(address, network)));
    });
  },
};

export const operators: Readonly<Record<string, Operator>> = {
  exists,
  in: ofLists(isTrue, isFalse),
  notIn: ofLists(isFalse, isTrue),
  startsWith: ofTexts((text, part) => text.startsWith(part)),
  endsWith: ofTexts((text, part) => text.endsWith(part)),
  contains: ofTexts((text, part) => text.includes(part)),
  lt: ofNumbers(isLess),
  lte: ofNumbers(isAtMost),
  gt: ofNumbers(isMore),
  gte: ofNumbers(isAtLeast),
  semverEq: ofVersions(isEqual),
  semverLt: ofVersions(isLess),
  semverLte: ofVersions(isAtMost),
  semverGt: ofVersions(isMore),
  semverGte: ofVersions(isAtLeast),
  before: ofMoments(isLess),
  after: ofMoments(isMore),
  inCidr,
};

export const operatorNames: readonly string[] = Object.keys(operators);

export const operatorNamed = (name: unknown): Operator | undefined =>
  typeof name === "string" && Object.hasOwn(operators, name) ? operators[name] : undefined;
