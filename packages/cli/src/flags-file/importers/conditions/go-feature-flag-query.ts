// Reads the query language of GO Feature Flag: comparisons, `and`, `or` and `not ( … )`.
import {
  equals,
  isSet,
  leaf,
  numberTest,
  type Order,
  oppositeWhenSet,
  pathTo,
  targetingKey,
  textTest,
  type VersionOrder,
  versionTest,
} from "../translate/leaves.ts";
import { attempt, CannotTranslate, every, opposite, some, type Test } from "../translate/logic.ts";

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

const operators: Readonly<Record<string, string>> = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
};

const orders: Readonly<Record<string, readonly [Order, VersionOrder]>> = {
  lt: ["lt", "Lt"],
  le: ["lte", "Lte"],
  gt: ["gt", "Gt"],
  ge: ["gte", "Gte"],
};

const texts: Readonly<Record<string, "contains" | "startsWith" | "endsWith">> = {
  co: "contains",
  sw: "startsWith",
  ew: "endsWith",
};

const isNumber = (token: Token): boolean =>
  !token.isText && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(token.text);
const isVersion = (token: Token): boolean =>
  !token.isText && /^\d+\.\d+\.\d+([-+].*)?$/.test(token.text);
const isBoolean = (token: Token): boolean =>
  !token.isText && (token.text === "true" || token.text === "false");
const isNull = (token: Token): boolean => !token.isText && token.text === "null";

/** Texts are compared without regard to case, except in a list. */
const readEqual = (attribute: string, value: Token): Test => {
  if (isNull(value)) return opposite(isSet(attribute));
  if (isVersion(value)) return versionTest(attribute, "Eq", value.text);
  if (isNumber(value)) return equals(attribute, [Number(value.text)]);
  if (!isBoolean(value)) return equals(attribute, [value.text], { ignoreCase: true });
  const is = value.text === "true";
  // Whoever does not say that they are anonymous is not.
  return attribute === "anonymous"
    ? leaf({ attribute, op: "in", values: [is] }, { missing: !is })
    : equals(attribute, [is]);
};

const readComparison = (attribute: string, operator: string, values: readonly Token[]): Test => {
  const [value] = values;
  if (value === undefined) throw new CannotTranslate("compares with an empty list");
  if (operator === "in") {
    if (!values.every(({ isText }) => isText)) {
      throw new CannotTranslate("looks for a number in a list, which GO Feature Flag never finds");
    }
    return equals(
      attribute,
      values.map(({ text }) => text),
    );
  }
  if (operator === "eq") return readEqual(attribute, value);
  if (operator === "ne") {
    const equal = readEqual(attribute, value);
    return isNull(value) ? opposite(equal) : oppositeWhenSet(attribute, equal);
  }
  const text = texts[operator];
  if (text !== undefined && value.isText) return textTest(attribute, text, [value.text], true);
  const [order, version] = orders[operator] ?? [];
  if (version !== undefined && isVersion(value)) return versionTest(attribute, version, value.text);
  if (order !== undefined && isNumber(value))
    return numberTest(attribute, order, Number(value.text));
  throw new CannotTranslate(`compares ${attribute} with ${value.text} by ${operator}`);
};

/** `and` and `or` bind equally there, from left to right. */
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
    const readValues = (): Token[] => {
      if (!isNext("[")) return [next()];
      const values: Token[] = [];
      next();
      while (!isNext("]")) {
        values.push(next());
        if (isNext(",")) next();
      }
      next();
      return values;
    };
    const readOne = (): Test => {
      const isNegated = isNext("not") || isNext("NOT");
      if (isNegated) next();
      if (isNext("(")) {
        next();
        const inner = readAll();
        expect(")");
        return isNegated ? opposite(inner) : inner;
      }
      if (isNegated) throw new CannotTranslate(`has a not without parentheses: ${query}`);
      const name = next().text;
      const attribute = name === "key" ? targetingKey : pathTo(name.split("."));
      const word = next().text;
      if (word === "pr") return isSet(attribute);
      return readComparison(attribute, operators[word] ?? word.toLowerCase(), readValues());
    };
    const readAll = (): Test => {
      let test = readOne();
      while (isNext("and") || isNext("or")) {
        const isAnd = next().text === "and";
        const other = readOne();
        test = isAnd ? every([test, other]) : some([test, other]);
      }
      return test;
    };
    const test = readAll();
    const rest = tokens[at];
    if (rest !== undefined) {
      throw new CannotTranslate(`has a query that GO Feature Flag reads only up to "${rest.text}"`);
    }
    return test;
  });
