// flagd: random targeting in JsonLogic, evaluated with its JavaScript engine.
import type { EvaluationContext } from "@halyard/core/context";
import type { Person, Trial } from "./compare.ts";
import {
  attributes,
  keys,
  numbers,
  pools,
  type Random,
  randomAttributes,
  texts,
} from "./random.ts";

type Json = Record<string, unknown>;

const variable = (name: string): Json => ({ var: name });

const condition = (random: Random, depth = 0): unknown => {
  const { pick, some, chance, below } = random;
  if (depth < 2 && chance(35)) {
    const name = pick(["and", "or", "!", "!!"]);
    if (name.startsWith("!")) return { [name]: [condition(random, depth + 1)] };
    return { [name]: Array.from({ length: 1 + below(2) }, () => condition(random, depth + 1)) };
  }
  const name = pick(attributes);
  const value = pick(pools[name] as readonly unknown[]);
  switch (
    pick([
      "key",
      "equal",
      "equal",
      "order",
      "in",
      "part",
      "text",
      "version",
      "missing",
      "set",
      "var",
    ])
  ) {
    case "key":
      return { in: [variable("targetingKey"), some(keys, 3)] };
    case "order": {
      const operands = [variable(pick(numbers)), pick([18, 0, 7, 18.5, "18"])];
      return { [pick(["<", "<=", ">", ">="])]: chance(70) ? operands : operands.reverse() };
    }
    case "in":
      return { in: [variable(name), some(pools[name] as readonly unknown[], 3)] };
    case "part":
      return { in: [pick(["pro", "CH", "acme"]), variable(pick(texts))] };
    case "text":
      return {
        [pick(["starts_with", "ends_with"])]: [variable(pick(texts)), pick(["C", "acme.com", ""])],
      };
    case "version":
      return {
        sem_ver: [
          variable("app"),
          pick(["=", "!=", "<", "<=", ">", ">=", "^", "~"]),
          pick(pools.app),
        ],
      };
    case "missing":
      return { missing: some(attributes, 2) };
    case "set":
      return { [pick(["==", "!=", "===", "!=="])]: [variable(name), null] };
    case "var":
      return variable(name);
    default:
      return { [pick(["==", "!=", "===", "!=="])]: [variable(name), value] };
  }
};

const result = (random: Random, names: readonly string[], depth = 0): unknown => {
  const { pick, chance } = random;
  if (depth < 2 && chance(25)) return branch(random, names, depth + 1);
  if (chance(10)) return null;
  if (chance(10)) {
    const [first = "", second = ""] = names;
    return {
      fractional: [
        [first, 100],
        [second, 0],
      ],
    };
  }
  return pick(names);
};

const branch = (random: Random, names: readonly string[], depth = 0): unknown => ({
  if: [
    ...Array.from({ length: 1 + random.below(2) }, () => [
      condition(random),
      result(random, names, depth),
    ]).flat(),
    ...(random.chance(80) ? [result(random, names, depth)] : []),
  ],
});

const flag = (random: Random): Json => {
  const { pick, chance } = random;
  const variants: Json = pick([
    { on: true, off: false },
    { true: true, false: false },
    { a: "A", b: "B", c: "C" },
    { small: 1, large: 10 },
  ]);
  const names = Object.keys(variants);
  const isBare = "true" in variants && chance(50);
  return {
    state: chance(92) ? "ENABLED" : "DISABLED",
    variants,
    defaultVariant: pick(names),
    ...(chance(92) && { targeting: isBare ? condition(random) : branch(random, names) }),
  };
};

const document = (random: Random) => ({
  flags: Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`flag-${index}`, flag(random)]),
  ),
});

const person = (random: Random): Person => {
  const known = random.chance(95) ? { targetingKey: random.pick(keys) } : {};
  const ours = { ...randomAttributes(random, attributes), ...known } as EvaluationContext;
  return { theirs: ours, ours };
};

interface Sdk {
  MemoryStorage: new (
    logger: object,
  ) => {
    setConfigurations(text: string): void;
    getFlag(key: string):
      | {
          state: string;
          evaluate(context: unknown, logger: object): { value?: unknown; errorCode?: string };
        }
      | undefined;
  };
}

const quiet = { error() {}, warn() {}, info() {}, debug() {} };

export const flagd: Trial = {
  product: "flagd",
  packageName: "@openfeature/flagd-core",
  version: "4.0.1",
  document,
  person,
  load(value, sdk) {
    const { MemoryStorage } = sdk("@openfeature/flagd-core") as Sdk;
    const storage = new MemoryStorage(quiet);
    storage.setConfigurations(JSON.stringify(value));
    return {
      evaluate(key, context) {
        const found = storage.getFlag(key);
        if (found === undefined || found.state === "DISABLED") return undefined;
        return found.evaluate(context, quiet).value;
      },
    };
  },
};
