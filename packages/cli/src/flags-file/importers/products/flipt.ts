// Reads Flipt's files: flags with rollouts or rules, and segments with constraints, in one or several namespaces.
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import { readConstraints } from "../conditions/flipt-constraints.ts";
import type { Found } from "../convert.ts";
import { chooseEnvironment, type Importer, notFrom } from "../source.ts";
import { CannotTranslate, every, impossible, some, type Test } from "../translate/logic.ts";
import { descriptionOf } from "../translate/names.ts";
import { assemble, type OutlineRule } from "../translate/outline.ts";
import { notAPercentage, percentOf } from "../translate/percentage.ts";
import { createSegmentBook } from "../translate/segments.ts";
import { sharesOf } from "../translate/split.ts";
import { onOff, onOrOff, type Values } from "../translate/values.ts";

type SegmentTest = (key: string) => Test;

/** The segments of a rule, in any of Flipt's formats. */
const whenIn = (given: Fields, segmentTest: SegmentTest): Test => {
  const named = given.segment ?? given;
  const { key, keys, segments, operator } = isFields(named) ? named : { key: named, ...given };
  const all = [...listOf(keys), ...listOf(segments), ...listOf(named)];
  const tests = (all.length > 0 ? all : [key]).map((each) => segmentTest(String(each)));
  return operator === "AND_SEGMENT_OPERATOR" ? every(tests) : some(tests);
};

/** `enabled` is the value of a boolean flag if no rollout matches. */
const readBoolean = (flag: Fields, segmentTest: SegmentTest) => {
  const rules = listOf(flag.rollouts)
    .map(fieldsOf)
    .map((rollout): OutlineRule => {
      const name = textOf(rollout.description);
      if (!isFields(rollout.threshold)) {
        const serve = onOrOff(fieldsOf(rollout.segment).value);
        return { name, when: whenIn(rollout, segmentTest), serve };
      }
      const { percentage, value } = rollout.threshold;
      const serve = () => {
        const share = percentOf(percentage);
        if (share === undefined) throw new CannotTranslate(notAPercentage(percentage));
        return { shares: share === 0 ? [] : [{ variant: onOrOff(value), share }] };
      };
      return { name, when: every([]), serve };
    });
  return assemble({ enabled: true, values: onOff, rules, otherwise: onOrOff(flag.enabled) });
};

/** For users who get no variant in Flipt. */
const noVariant = "none";

const readVariants = (flag: Fields): { values: Values; fallback: string; note: string[] } => {
  const variants = listOf(flag.variants).map(fieldsOf);
  const hasAttachments = variants.some(({ attachment }) => isFields(attachment));
  const named = variants.map(({ key, attachment }) => [
    String(key),
    hasAttachments ? fieldsOf(attachment) : String(key),
  ]);
  const fallback = textOf(variants.find((variant) => variant.default === true)?.key);
  const nothing = [noVariant, hasAttachments ? {} : ""];
  const all = fallback === undefined ? [nothing, ...named] : named;
  const values = {
    valueType: hasAttachments ? "object" : "string",
    variants: Object.fromEntries(all),
    off: fallback ?? noVariant,
  } as const;
  const note = [
    ...(fallback === undefined
      ? [
          `returns the variant ${noVariant} where Flipt returns none and the application uses its default`,
        ]
      : []),
    ...(hasAttachments ? ["returns the attachments of its variants"] : []),
  ];
  return { values, fallback: fallback ?? noVariant, note };
};

const readVariant = (flag: Fields, segmentTest: SegmentTest) => {
  const { values, fallback, note } = readVariants(flag);
  const rules = listOf(flag.rules)
    .map(fieldsOf)
    .map((rule): OutlineRule => {
      const weights = listOf(rule.distributions)
        .map(fieldsOf)
        .map(({ variant, rollout }) => ({ variant: String(variant), weight: Number(rollout) }))
        .filter(({ weight }) => weight > 0);
      return {
        name: undefined,
        when: whenIn(rule, segmentTest),
        // A rule without a distribution matches and returns the default.
        serve: () => (weights.length === 0 ? fallback : { shares: sharesOf(weights) }),
      };
    });
  const assembled = assemble({
    enabled: flag.enabled === true,
    values,
    rules,
    otherwise: fallback,
  });
  return { ...assembled, notes: [...assembled.notes, ...note] };
};

const readFlag = (flag: Fields, segmentTest: SegmentTest): Found => {
  const name = textOf(flag.key) ?? "";
  const description = descriptionOf(flag, name);
  const isBoolean = flag.type === "BOOLEAN_FLAG_TYPE";
  return { name, description, ...(isBoolean ? readBoolean : readVariant)(flag, segmentTest) };
};

const namespaceOf = (document: Fields): string => {
  const { namespace } = document;
  return textOf(namespace) ?? textOf(fieldsOf(namespace).key) ?? "default";
};

export const readFlipt: Importer = ({ value, environment: requested }) => {
  const documents = (Array.isArray(value) ? value : [value]).map(fieldsOf);
  if (!documents.some(({ flags }) => Array.isArray(flags))) {
    throw notFrom("Flipt", '"flags" and "segments" are expected, as written by flipt export');
  }
  const namespace = chooseEnvironment(documents.map(namespaceOf), requested);
  const own = documents.filter((document) => namespaceOf(document) === namespace);
  const book = createSegmentBook();
  const tests = new Map<string, Test>();
  for (const segment of own.flatMap(({ segments }) => listOf(segments).map(fieldsOf))) {
    const key = String(segment.key);
    const description = descriptionOf(segment, key);
    tests.set(key, book.add({ name: key, description, when: readConstraints(segment) }));
  }
  const segmentTest = (key: string): Test =>
    tests.get(key) ?? impossible(`uses the segment "${key}", which is not in the file`);
  const flags = own.flatMap((document) => listOf(document.flags).map(fieldsOf));
  return {
    found: flags.map((flag) => readFlag(flag, segmentTest)),
    segments: book.found,
    remarks: book.remarks,
  };
};
