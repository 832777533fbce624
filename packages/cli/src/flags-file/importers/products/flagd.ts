// Reads flagd's flag definitions: variants, a default, and targeting in JsonLogic.
import { type Fields, fieldsOf, isFields, textOf, writtenAs } from "../../loose-values.ts";
import { isTrueOrFalse, operationOf, readLogic, variableOf } from "../conditions/json-logic.ts";
import type { Found } from "../convert.ts";
import { type Importer, notFrom, refuseEnvironment } from "../source.ts";
import { targetingKey } from "../translate/leaves.ts";
import { CannotTranslate, every, type Test, tryTo } from "../translate/logic.ts";
import { assemble, notImported, type Outcome, type OutlineRule } from "../translate/outline.ts";
import { type Split, sharesOf } from "../translate/split.ts";
import { offValue, severalTypes, valuesOf, variantNamed } from "../translate/values.ts";

const definitionsOf = (value: unknown): [name: string, definition: Fields][] => {
  const { flags } = fieldsOf(value);
  if (Array.isArray(flags)) {
    return flags.map(fieldsOf).map((flag) => [textOf(flag.key) ?? "", flag]);
  }
  if (!isFields(flags)) {
    throw notFrom("flagd", 'an object with "flags" is expected');
  }
  return Object.entries(flags).map(([name, flag]) => [name, fieldsOf(flag)]);
};

const deepest = 20;

/** Replaces `$ref` with the referenced evaluator. */
const resolve = (value: unknown, evaluators: Fields, depth = 0): unknown => {
  if (depth > deepest) throw new CannotTranslate("is nested too deeply");
  if (Array.isArray(value)) return value.map((each) => resolve(each, evaluators, depth + 1));
  if (!isFields(value)) return value;
  if (typeof value.$ref === "string") {
    if (!Object.hasOwn(evaluators, value.$ref)) {
      throw new CannotTranslate(`uses ${value.$ref}, which is not in the file`);
    }
    return resolve(evaluators[value.$ref], evaluators, depth + 1);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, resolve(each, evaluators, depth + 1)]),
  );
};

interface Choice {
  readonly variants: Fields;
  readonly fallback: unknown;
}

/** The variant that the targeting returns; null means the default. */
const variantOf = (result: unknown, { variants, fallback }: Choice): string => {
  const name = result === null || result === undefined ? fallback : writtenAs(result);
  if (name === null || name === undefined) {
    throw new CannotTranslate("has no default variant: the default in the code applies");
  }
  return variantNamed(name, variants);
};

/** The bucketing value: the flag's key and an attribute, or a string and an attribute. */
const bucketOf = (value: unknown): { by: string | undefined; seed: string | undefined } => {
  const bucketBy = (name: string | undefined) => (name === targetingKey ? undefined : name);
  const alone = variableOf(value);
  if (alone !== undefined) return { by: bucketBy(alone), seed: undefined };
  const operation = operationOf(value);
  const parts = operation?.[0] === "cat" ? operation[1] : [];
  const names = parts.flatMap((part) => variableOf(part) ?? []);
  const attributes = names.filter((name) => name !== "/$flagd/flagKey");
  const [attribute] = attributes;
  if (attribute === undefined || attributes.length > 1) {
    throw new CannotTranslate("splits by something other than one attribute");
  }
  const seed = parts.filter((part) => typeof part === "string").join("");
  const isOwn = names.length > attributes.length || seed === "";
  return { by: bucketBy(attribute), seed: isOwn ? undefined : seed };
};

const readSplit = (given: readonly unknown[], choice: Choice): Outcome => {
  const [first, ...rest] = given;
  const isPlain = Array.isArray(first);
  const weights = (isPlain ? given : rest).map((part) => {
    const [name, weight = 1] = Array.isArray(part) ? part : [];
    if (isFields(name) || typeof weight !== "number" || weight < 0) {
      throw new CannotTranslate("has a split without variants and weights");
    }
    return { variant: variantOf(name, choice), weight };
  });
  const bucket: Pick<Split, "by" | "seed"> = isPlain ? {} : bucketOf(first);
  // Without the attribute, flagd returns the default.
  const exactIf = [`${bucket.by ?? targetingKey} is present`];
  return { shares: sharesOf(weights), ...bucket, exactIf };
};

/** Rules in the order of the expression. The last one applies to all remaining contexts of `within`. */
const decide = (value: unknown, within: readonly Test[], choice: Choice): OutlineRule[] => {
  const when = every(within);
  const [name, given = []] = operationOf(value) ?? [];
  if (name === undefined) return [{ when, serve: () => variantOf(value, choice) }];
  if (name === "fractional") return [{ when, serve: () => readSplit(given, choice) }];
  if (name !== "if" && name !== "?:") {
    if (!isTrueOrFalse(value)) {
      throw new CannotTranslate(`has ${name} where the name of a variant is expected`);
    }
    // A condition as a result stands for the variants named true and false.
    const rules = decide(true, [...within, readLogic(value)], choice);
    return [...rules, ...decide(false, within, choice)];
  }
  const rules: OutlineRule[] = [];
  let index = 0;
  for (; index + 1 < given.length; index += 2) {
    rules.push(...decide(given[index + 1], [...within, readLogic(given[index])], choice));
  }
  return [...rules, ...decide(given[index] ?? null, within, choice)];
};

const readDefinition = ([name, flag]: [string, Fields], evaluators: Fields): Found => {
  const variants = fieldsOf(flag.variants);
  const { description, owner } = fieldsOf(flag.metadata);
  const base = { name, description: textOf(description) };
  const fallback = typeof flag.defaultVariant === "string" ? flag.defaultVariant : undefined;
  const values = valuesOf(variants, fallback ?? Object.keys(variants)[0] ?? "");
  if (values === undefined) return { ...base, ...notImported(severalTypes) };
  const isDisabled = flag.state === "DISABLED";
  const hasTargeting = isFields(flag.targeting) && Object.keys(flag.targeting).length > 0;
  const rules = tryTo(() => {
    const targeting = hasTargeting ? resolve(flag.targeting, evaluators) : null;
    return decide(targeting, [], { variants, fallback: flag.defaultVariant });
  });
  if (rules instanceof CannotTranslate) return { ...base, ...notImported(rules.message) };
  const last = rules.at(-1);
  const assembled = assemble({
    enabled: !isDisabled,
    values,
    rules: rules.slice(0, -1),
    otherwise: last?.serve ?? values.off,
    owner: textOf(owner),
  });
  const asleep = isDisabled
    ? [
        `is disabled: flagd then returns the default in the code, Halyard returns ${offValue(values)}`,
      ]
    : [];
  return { ...base, ...assembled, notes: [...assembled.notes, ...asleep] };
};

export const readFlagd: Importer = (source) => {
  const definitions = definitionsOf(source.value);
  refuseEnvironment("flagd", source, "its files have no environments");
  const evaluators = fieldsOf(fieldsOf(source.value).$evaluators);
  return { found: definitions.map((definition) => readDefinition(definition, evaluators)) };
};
