// Five rules of three conditions each, the people whom they are asked about, and the plainest evaluator of them.

export type Scalar = string | number;

/** In Halyard's own form, which the others' engines translate into theirs. */
export interface PlainCondition {
  readonly attribute: string;
  readonly op: "in" | "notIn" | "startsWith" | "endsWith" | "gte" | "lt";
  readonly value?: number;
  readonly values?: readonly string[];
}
export type PlainRule = readonly PlainCondition[];
export type Person = { readonly targetingKey: string } & Readonly<Record<string, Scalar>>;

const isIn = (attribute: string, ...values: string[]): PlainCondition => ({
  attribute,
  op: "in",
  values,
});

/** The last condition of each fails most often, so that the others are asked before it. */
export const ruleSet: readonly PlainRule[] = [
  [
    isIn("plan", "enterprise", "team", "pro"),
    { attribute: "country", op: "notIn", values: ["US", "CA"] },
    { attribute: "email", op: "endsWith", values: ["@acme.example", "@acme-labs.example"] },
  ],
  [
    isIn("country", "DE", "AT", "CH", "FR", "NL", "US"),
    { attribute: "age", op: "gte", value: 18 },
    isIn("language", "gsw", "rm"),
  ],
  [
    { attribute: "age", op: "lt", value: 65 },
    isIn("plan", "team", "pro", "free"),
    { attribute: "email", op: "startsWith", values: ["beta-", "preview-"] },
  ],
  [
    isIn("device", "phone", "tablet", "laptop"),
    isIn("language", "de", "en", "fr", "es", "it", "pt"),
    { attribute: "age", op: "gte", value: 90 },
  ],
  [
    isIn("country", "US", "CA", "MX", "BR", "DE", "FR", "JP", "IN"),
    { attribute: "age", op: "gte", value: 21 },
    isIn("device", "watch", "tv"),
  ],
];

const holds = ({ attribute, op, value = 0, values = [] }: PlainCondition, person: Person) => {
  const found = person[attribute] ?? "";
  const text = String(found);
  switch (op) {
    case "in":
      return values.includes(text);
    case "notIn":
      return !values.includes(text);
    case "startsWith":
      return values.some((each) => text.startsWith(each));
    case "endsWith":
      return values.some((each) => text.endsWith(each));
    case "gte":
      return Number(found) >= value;
    case "lt":
      return Number(found) < value;
  }
};

/** The first rule that matches; -1 for none. */
const matchOf = (person: Person): number =>
  ruleSet.findIndex((rule) => rule.every((condition) => holds(condition, person)));

/** Numbers that are the same in every process. */
const createRandom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const random = createRandom(1);
const oneOf = <T>(...values: readonly T[]): T => values[random(values.length)] as T;
/** Flat texts, as they come from a request. */
const flat = (text: string): string => Buffer.from(text).toString("latin1");
const hosts = ["acme.example", "acme-labs.example", "mail.example", "post.example"] as const;
const newPerson = (): Person => ({
  targetingKey: flat(`user-${random(1e9)}`),
  email: flat(`${oneOf("", "", "", "beta-")}someone-${random(1e5)}@${oneOf(...hosts)}`),
  plan: oneOf("enterprise", "team", "pro", "free"),
  country: oneOf("US", "CA", "MX", "BR", "DE", "FR", "JP", "IN", "NL", "AT", "CH", "SE"),
  age: 13 + random(85),
  language: oneOf("de", "en", "fr", "es", "it", "pt", "gsw", "rm", "ja"),
  device: oneOf("phone", "tablet", "laptop", "watch", "tv"),
});

const peopleOf = (count: number, fits: (match: number) => boolean): readonly Person[] => {
  const found: Person[] = [];
  while (found.length < count) {
    const person = newPerson();
    if (fits(matchOf(person))) found.push(person);
  }
  return found;
};

/** Of each the engines must give what the plain evaluator gives before they are measured. */
export const people = {
  any: peopleOf(5_000, () => true),
  first: peopleOf(1_000, (match) => match === 0),
  last: peopleOf(1_000, (match) => match === ruleSet.length - 1),
  none: peopleOf(1_000, (match) => match === -1),
};
export type Group = keyof typeof people;

/** For each of them 1 when a rule matches, 0 when none does. */
export const expected = (group: Group): string =>
  people[group].map((person) => (matchOf(person) === -1 ? "0" : "1")).join("");
