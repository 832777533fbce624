// Reads the query language of GO Feature Flag: comparisons, `and`, `or` and `not ( … )`.
import {
  type Expression,
  negated,
  type Operator,
  type Operators,
  operatorsFor,
  translate,
} from "../translate/conditions.ts";
import {
  equals,
  isSet,
  leaf,
  numberTest,
  pathTo,
  targetingKey,
  textTest,
  versionTest,
} from "../translate/leaves.ts";
import { attempt, CannotTranslate, opposite, type Test } from "../translate/logic.ts";

const tokenPattern =
  /\s*(?:(\(|\)|\[|\]|,)|"((?:[^"\\]|\\.)*)"|(==|!=|<=|>=|<|>)|([^\s()[\],"<>=!]+))/y;

interface Token {
  readonly text: string;
  readonly isText: boolean;
}

const tokensOf = (query: string): Token[] => {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < query.trimEnd().length) {
    const start = tokenPattern.lastIndex;
    const match = tokenPattern.exec(query);
    if (match === null) {
      throw new CannotTranslate(`has a query that cannot be read: ${query.slice(start).trim()}`);
    }
    const [, sign, text, operator, word] = match;
    tokens.push(
      text === undefined
        ? { text: sign ?? operator ?? word ?? "", isText: false }
        : { text: JSON.parse(`"${text}"`) as string, isText: true },
    );
  }
  return tokens;
};

/** One value, or the values of a list. */
type Tokens = readonly [Token, ...Token[]];

const signs: Readonly<Record<string, string>> = {
  ...{ "==": "eq", "!=": "ne" },
  ...{ "<": "lt", "<=": "le", ">": "gt", ">=": "ge" },
};

const isNumber = (token: Token): boolean =>
  !token.isText && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(token.text);
const isVersion = (token: Token): boolean =>
  !token.isText && /^\d+\.\d+\.\d+([-+].*)?$/.test(token.text);
const isBoolean = (token: Token): boolean =>
  !token.isText && (token.text === "true" || token.text === "false");
const isNull = (token: Token): boolean => !token.isText && token.text === "null";

/** Strings are compared without regard to case, except in a list. */
const isEqual: Operator<Tokens> = (attribute, [value]) => {
  if (isNull(value)) return opposite(isSet(attribute));
  if (isVersion(value)) return versionTest(attribute, "Eq", value.text);
  if (isNumber(value)) return equals(attribute, [Number(value.text)]);
  if (!isBoolean(value)) return equals(attribute, [value.text], { ignoreCase: true });
  const is = value.text === "true";
  // Without the attribute, users are not anonymous.
  return attribute === "anonymous"
    ? leaf({ attribute, op: "in", values: [is] }, { missing: !is })
    : equals(attribute, [is]);
};

const isNotEqual: Operator<Tokens> = (attribute, values) =>
  isNull(values[0]) ? isSet(attribute) : negated(isEqual)(attribute, values);

const mismatch = (attribute: string, { text }: Token, operator: string): CannotTranslate =>
  new CannotTranslate(`compares ${attribute} with ${text} by ${operator}`);

const operators: Operators<Tokens> = {
  eq: isEqual,
  ne: isNotEqual,
  in(attribute, values) {
    if (!values.every(({ isText }) => isText)) {
      throw new CannotTranslate("looks for a number in a list, which GO Feature Flag never finds");
    }
    return equals(
      attribute,
      values.map(({ text }) => text),
    );
  },
  ...operatorsFor(
    { co: "contains", sw: "startsWith", ew: "endsWith" },
    (op, name) =>
      (attribute, [value]) => {
        if (!value.isText) throw mismatch(attribute, value, name);
        return textTest(attribute, op, [value.text], true);
      },
  ),
  ...operatorsFor(
    { lt: ["lt", "Lt"], le: ["lte", "Lte"], gt: ["gt", "Gt"], ge: ["gte", "Gte"] },
    ([order, versionOrder], name) =>
      (attribute, [value]) => {
        if (isVersion(value)) return versionTest(attribute, versionOrder, value.text);
        if (isNumber(value)) return numberTest(attribute, order, Number(value.text));
        throw mismatch(attribute, value, name);
      },
  ),
};

/** In GO Feature Flag, `and` and `or` have the same precedence, from left to right. */
export const readQuery = (query: string): Test =>
  attempt(() => {
    const tokens = tokensOf(query);
    let at = 0;
    const next = (): Token => {
      const token = tokens[at];
      at += 1;
      if (token === undefined)
        throw new CannotTranslate(`has a query that ends too early: ${query}`);
      return token;
    };
    const isNext = (text: string) => tokens[at]?.text === text && tokens[at]?.isText === false;
    const expect = (text: string) => {
      if (next().text !== text) throw new CannotTranslate(`has a query without ${text}: ${query}`);
    };
    const readValues = (): Tokens => {
      if (!isNext("[")) return [next()];
      const values: Token[] = [];
      next();
      while (!isNext("]")) {
        values.push(next());
        if (isNext(",")) next();
      }
      next();
      const [first, ...others] = values;
      if (first === undefined) throw new CannotTranslate("compares with an empty list");
      return [first, ...others];
    };
    const readOne = (): Expression<Tokens> => {
      const isNegated = isNext("not") || isNext("NOT");
      if (isNegated) next();
      if (isNext("(")) {
        next();
        const inner = readAll();
        expect(")");
        return isNegated ? { not: inner } : inner;
      }
      if (isNegated) throw new CannotTranslate(`has a not without parentheses: ${query}`);
      const name = next().text;
      const attribute = name === "key" ? targetingKey : pathTo(name.split("."));
      const word = next().text;
      if (word === "pr") return isSet(attribute);
      return { attribute, operator: signs[word] ?? word.toLowerCase(), value: readValues() };
    };
    const readAll = (): Expression<Tokens> => {
      let expression = readOne();
      while (isNext("and") || isNext("or")) {
        const isAnd = next().text === "and";
        const both = [expression, readOne()];
        expression = isAnd ? { all: both } : { any: both };
      }
      return expression;
    };
    const expression = readAll();
    const rest = tokens[at];
    if (rest !== undefined) {
      throw new CannotTranslate(`has a query that GO Feature Flag reads only up to "${rest.text}"`);
    }
    return translate(expression, operators);
  });
