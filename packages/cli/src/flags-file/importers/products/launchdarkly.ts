// Reads flags from LaunchDarkly's REST API: one flag, a list, or several pages, and pages of segments.
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import { attributeOf, clauseReader } from "../conditions/launchdarkly-clauses.ts";
import { isSegment, readSegments } from "../conditions/launchdarkly-segments.ts";
import type { Found } from "../convert.ts";
import { chooseEnvironment, type Importer, notFrom } from "../source.ts";
import { equals, targetingKey } from "../translate/leaves.ts";
import { CannotTranslate, type Test } from "../translate/logic.ts";
import { descriptionOf, tagsOf } from "../translate/names.ts";
import {
  assemble,
  notImported,
  type Outcome,
  type OutlineRule,
  type Prerequisites,
} from "../translate/outline.ts";
import { createSegmentBook, type SegmentBook } from "../translate/segments.ts";
import { sharesOf } from "../translate/split.ts";
import {
  nameValues,
  onOff,
  onOrOff,
  severalTypes,
  typeOfAll,
  type Values,
} from "../translate/values.ts";

/** In thousandths of a percent. */
const wholeWeight = 100_000;

const isFlag = (value: unknown): value is Fields =>
  isFields(value) && typeof value.key === "string" && Array.isArray(value.variations);

const entriesOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value.flatMap(entriesOf);
  return isFields(value) && Array.isArray(value.items) ? value.items : [value];
};

interface Variations {
  readonly isBoolean: boolean;
  /** The names of the variants in the order of the flag. */
  readonly names: readonly string[];
  readonly valuesWith: (off: string) => Values;
}

const readVariations = (flag: Fields): Variations | undefined => {
  const variations = listOf(flag.variations).map(fieldsOf);
  const values = variations.map(({ value }) => value);
  const valueType = typeOfAll(values);
  if (valueType === undefined) return undefined;
  if (valueType === "boolean") {
    return { isBoolean: true, names: values.map(onOrOff), valuesWith: () => onOff };
  }
  const { variants, names } = nameValues(
    values,
    variations.map(({ name }) => textOf(name)),
  );
  return { isBoolean: false, names, valuesWith: (off) => ({ valueType, variants, off }) };
};

interface Serving {
  readonly people: (keys: readonly string[]) => Test;
  readonly variations: Variations;
  readonly notes: Set<string>;
}

const nameAt = ({ names }: Variations, index: unknown): string => {
  const name = typeof index === "number" ? names[index] : undefined;
  if (name === undefined) throw new CannotTranslate("serves nothing by default");
  return name;
};

const serveOf =
  (place: Fields, { variations, notes }: Serving): (() => Outcome) =>
  () => {
    if (!isFields(place.rollout)) return nameAt(variations, place.variation);
    const { kind, bucketBy, contextKind, seed, experimentAllocation } = place.rollout;
    const isExperiment = kind === "experiment" || isFields(experimentAllocation);
    if (isExperiment) notes.add("runs an experiment: its split is imported, but not its metrics");
    const weights = listOf(place.rollout.variations)
      .map(fieldsOf)
      .map(({ variation, weight }) => ({
        variant: nameAt(variations, variation),
        weight: typeof weight === "number" ? weight : 0,
      }));
    const sum = weights.reduce((total, { weight }) => total + weight, 0);
    if (sum !== wholeWeight) {
      throw new CannotTranslate(`has weights with a sum of ${sum} instead of ${wholeWeight}`);
    }
    const name = isExperiment ? "key" : (textOf(bucketBy) ?? "key");
    const by = attributeOf(name, contextKind);
    noteKind(contextKind, notes);
    return {
      shares: sharesOf(weights, wholeWeight),
      by: by === targetingKey ? undefined : by,
      seed: typeof seed === "number" ? String(seed) : undefined,
    };
  };

const kindNote = (kind: string): string =>
  `uses contexts of the kind ${kind}: send them as "${kind}": {"key": …} in the context`;

const noteKind = (kind: unknown, notes: Set<string>): void => {
  if (textOf(kind) !== undefined && kind !== "user") notes.add(kindNote(String(kind)));
};

// `targets` contains users. `contextTargets` repeats them without values to define the order.
const targetsOf = (place: Fields, { variations, notes, people }: Serving): OutlineRule[] =>
  [...listOf(place.targets), ...listOf(place.contextTargets)]
    .map(fieldsOf)
    .filter(({ values }) => listOf(values).length > 0)
    .map(({ values, variation, contextKind }) => {
      noteKind(contextKind, notes);
      const attribute = attributeOf("key", contextKind);
      const isUser = attribute === targetingKey;
      const keys = listOf(values).map(String);
      return {
        name: `targets-${String(variation)}${isUser ? "" : `-${String(contextKind)}`}`,
        when: isUser ? people(keys) : equals(attribute, keys),
        serve: () => nameAt(variations, variation),
      };
    });

/** In LaunchDarkly, a prerequisite must also be on. */
const readPrerequisites = (
  place: Fields,
  flags: readonly Fields[],
  environment: string,
): Prerequisites => {
  const { requires, reasons }: Prerequisites = { requires: [], reasons: [] };
  for (const { key, variation } of listOf(place.prerequisites).map(fieldsOf)) {
    const flag = flags.find((one) => one.key === key);
    const variations = flag && readVariations(flag);
    const variant = variations?.names[Number(variation)];
    const offVariation = fieldsOf(fieldsOf(flag?.environments)[environment]).offVariation;
    const off = variations?.isBoolean ? "off" : variations?.names[Number(offVariation)];
    if (variant === undefined) reasons.push(`requires ${String(key)}, which is not in the file`);
    else if (variant === off) {
      reasons.push(`requires ${String(key)} to be on and to return its off value`);
    } else requires.push({ flag: String(key), variant });
  }
  return { requires, reasons };
};

type Read = Pick<Found, "draft" | "asRollout" | "reasons" | "notes" | "isNarrower">;

const readPlace = (
  flag: Fields,
  place: Fields,
  { flags, environment, segmentOf, people }: Whole,
): Read => {
  const variations = readVariations(flag);
  if (variations === undefined) return notImported(severalTypes);
  if (!isFields(place.fallthrough)) {
    return notImported("is only a summary in the file: export it with summary=0");
  }
  const isOn = place.on === true;
  const notes = new Set<string>();
  const serving = {
    variations,
    notes,
    people: (keys: readonly string[]) => people(`${String(flag.key)}-targets`, keys),
  };
  const clauses = clauseReader(segmentOf);
  const whenOff =
    typeof place.offVariation === "number" ? variations.names[place.offVariation] : undefined;
  const { requires, reasons } = readPrerequisites(place, flags, environment);
  if (whenOff === undefined) {
    notes.add(
      `serves the default in the code while it is off; Halyard returns ${variations.isBoolean ? "false" : variations.names[0]}`,
    );
  } else if (variations.isBoolean && whenOff === "on") {
    if (!isOn || requires.length > 0) reasons.push("serves true while it is off");
    else notes.add("serves true when it is turned off; Halyard returns false");
  }
  const maintainer = fieldsOf(flag._maintainer);
  const assembled = assemble({
    enabled: isOn,
    values: variations.valuesWith(whenOff ?? variations.names[0] ?? ""),
    requires,
    rules: [
      ...targetsOf(place, serving),
      ...listOf(place.rules)
        .map(fieldsOf)
        .map((rule) => ({
          name: textOf(rule.description),
          when: clauses.read(rule.clauses),
          serve: serveOf(rule, serving),
          disabled: rule.disabled === true,
        })),
    ],
    otherwise: serveOf(place.fallthrough, serving),
    tags: tagsOf(listOf(flag.tags)),
    owner: textOf(maintainer.email),
  });
  const kinds = [...clauses.kinds].map(kindNote);
  return {
    ...assembled,
    reasons: [...new Set([...reasons, ...assembled.reasons])],
    notes: [...new Set([...assembled.notes, ...notes, ...kinds])],
  };
};

interface Whole {
  readonly flags: readonly Fields[];
  readonly environment: string;
  readonly segmentOf: (key: string) => Test;
  readonly people: SegmentBook["people"];
}

export const readLaunchDarkly: Importer = ({ value, environment: requested }) => {
  const entries = entriesOf(value);
  const segments = entries.filter(isSegment);
  const flags = entries.filter((entry) => !isSegment(entry));
  if (!flags.every(isFlag)) {
    throw notFrom(
      "LaunchDarkly",
      'the response of its REST API is expected, "items" with flags that have "key" and "variations"',
    );
  }
  const environments = flags.flatMap((flag) => Object.keys(fieldsOf(flag.environments)));
  const environment = chooseEnvironment(environments, requested);
  const pages = (Array.isArray(value) ? value.flat() : [value]).map(fieldsOf);
  const total = pages
    .filter(({ items }) => listOf(items).some(isFlag))
    .reduce((most, { totalCount }) => Math.max(most, Number(totalCount) || 0), 0);
  const book = createSegmentBook();
  const segmentOf = readSegments(segments, book);
  for (const { key } of segments) segmentOf(String(key));
  const found = flags.map((flag): Found => {
    const place = fieldsOf(flag.environments)[environment ?? ""];
    const name = String(flag.key);
    const description = descriptionOf(flag, name);
    if (!isFields(place)) {
      return {
        name,
        description,
        ...notImported(`is not in the environment ${environment ?? "of the file"}`),
      };
    }
    const archived = flag.archived === true || place.archived === true;
    if (archived) return { name, description, archived, ...notImported("is archived") };
    return {
      name,
      description,
      ...readPlace(flag, place, {
        flags,
        environment: environment ?? "",
        segmentOf,
        people: book.people,
      }),
    };
  });
  return {
    found,
    environments: [...new Set(environments)],
    segments: book.found,
    remarks: [
      ...book.remarks,
      ...(total > flags.length
        ? [
            `The file contains ${flags.length} of the ${total} flags that LaunchDarkly has: fetch the other pages too.`,
          ]
        : []),
    ],
  };
};
