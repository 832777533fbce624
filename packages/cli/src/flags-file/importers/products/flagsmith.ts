// Reads Flagsmith's files: an export of features, or the environment document that its SDKs use.
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import { readSegment, type SegmentReading } from "../conditions/flagsmith-segments.ts";
import type { Found } from "../convert.ts";
import { type Importer, notFrom, refuseEnvironment } from "../source.ts";
import { targetingKey } from "../translate/leaves.ts";
import type { Test } from "../translate/logic.ts";
import { assemble, notImported, type Outcome, type OutlineRule } from "../translate/outline.ts";
import { createSegmentBook } from "../translate/segments.ts";
import { isForAll, layered, sharesOf } from "../translate/split.ts";
import { nameValues, onOff, severalTypes, typeOfAll } from "../translate/values.ts";

const hasValue = (value: unknown): boolean => value !== null && value !== undefined && value !== "";

interface Option {
  readonly value: unknown;
  readonly percent: number;
}

/** The state of a feature in the environment, or in an override for a segment or an identity. */
interface State {
  readonly enabled: boolean;
  readonly value: unknown;
  readonly options: readonly Option[];
}

const readState = (state: Fields): State => ({
  enabled: state.enabled === true,
  value: state.feature_state_value ?? state.value ?? null,
  options: [...listOf(state.multivariate_feature_state_values), ...listOf(state.multivariate)]
    .map(fieldsOf)
    .map((option) => ({
      value:
        fieldsOf(option.multivariate_feature_option).value ?? option.value ?? option.string_value,
      percent: Number(option.percentage_allocation ?? option.default_percentage_allocation ?? 0),
    })),
});

interface Override {
  readonly name: string;
  readonly when: Test;
  readonly share?: SegmentReading["share"];
  readonly state: State;
  /** The seed that selects the users of the share. */
  readonly seed?: string;
}

type Read = Pick<Found, "draft" | "reasons" | "notes" | "isNarrower">;

/** Limits an outcome to a share of the segment's users. The others fall through to the next rule. */
const portionOf = (outcome: Outcome, { share, seed }: Override): Outcome => {
  if (share === undefined) return outcome;
  const { percent, by } = share();
  const variants =
    typeof outcome === "string" ? [{ variant: outcome, share: 100 }] : outcome.shares;
  const weights = variants.map(({ variant, share: weight }) => ({ variant, weight }));
  const shares = sharesOf(weights, 100, percent);
  const exactIf = isForAll(shares) ? [] : [`${by ?? targetingKey} is present`];
  return { shares, by, seed, exactIf };
};

/** A feature that is only on or off, or has the same value wherever it is on. */
const readSwitch = (
  base: State,
  overrides: readonly Override[],
  notes: readonly string[],
): Read => {
  const nameOf = ({ enabled }: State) => (enabled ? "on" : "off");
  const rules = overrides.map(
    (override): OutlineRule => ({
      name: override.name,
      when: override.when,
      serve: () => portionOf(nameOf(override.state), override),
    }),
  );
  // A flag that is off for everyone except a segment is on in Halyard, and the rules decide.
  const enabled = base.enabled || overrides.some(({ state }) => state.enabled);
  const assembled = assemble({ enabled, values: onOff, rules, otherwise: nameOf(base) });
  return { ...assembled, notes: [...assembled.notes, ...notes] };
};

const valuesOf = (states: readonly State[]): readonly unknown[] =>
  states.flatMap(({ value, options }) => [value, ...options.map((each) => each.value)]);

const readValue = (base: State, overrides: readonly Override[]): Read => {
  const all = valuesOf([base, ...overrides.map(({ state }) => state)]);
  // Among strings, a missing value counts as an empty one.
  const isText = typeOfAll(all.filter((value) => value !== null)) === "string";
  const values = all.map((value) => (isText ? (value ?? "") : value));
  const valueType = typeOfAll(values);
  if (valueType === undefined || valueType === "boolean") {
    return notImported(severalTypes);
  }
  const { variants, names } = nameValues(values, ["control"]);
  const nameOf = (value: unknown) => names[values.indexOf(isText ? (value ?? "") : value)] ?? "";
  const outcomeOf = ({ value, options }: State): Outcome => {
    if (options.length === 0) return nameOf(value);
    const weights = options.map((each) => ({ variant: nameOf(each.value), weight: each.percent }));
    const shares = layered(sharesOf(weights, 100), nameOf(value));
    return { shares, exactIf: isForAll(shares) ? [] : [`${targetingKey} is present`] };
  };
  const gives = overrides.length + base.options.length > 0 && !base.enabled;
  const assembled = assemble({
    enabled: base.enabled,
    values: { valueType, variants, off: nameOf(base.value) },
    rules: overrides.map((override) => ({
      name: override.name,
      when: override.when,
      serve: () => portionOf(outcomeOf(override.state), override),
    })),
    otherwise: () => outcomeOf(base),
  });
  const asleep = gives
    ? [
        "returns the value control while it is off; Flagsmith returns the values of overrides then too",
      ]
    : [];
  return { ...assembled, notes: [...assembled.notes, ...asleep] };
};

const read = (base: State, overrides: readonly Override[]): Read => {
  const states = [base, ...overrides.map(({ state }) => state)];
  const isSwitched = states.some(({ enabled }) => enabled !== base.enabled);
  const values = new Set(valuesOf(states).filter(hasValue));
  if (values.size === 0) return readSwitch(base, overrides, []);
  if (!isSwitched) return readValue(base, overrides);
  const [value] = values;
  if (values.size === 1 && states.every(({ options }) => options.length === 0)) {
    return readSwitch(base, overrides, [
      `its value ${JSON.stringify(value)} is not imported: a boolean flag has no value`,
    ]);
  }
  return notImported(
    "is both turned on and off and has different values, which no flag type in Halyard supports",
  );
};

const exportRemark =
  "An export of features does not contain segment overrides, which Flagsmith uses for rollouts: to import rollouts, use the environment document.";

interface Placed extends Override {
  readonly priority: number;
  readonly segmentId: number;
}

const readEnvironment = (document: Fields, states: readonly unknown[]) => {
  const book = createSegmentBook();
  const overrides = new Map<string, Placed[]>();
  for (const segment of listOf(fieldsOf(document.project).segments).map(fieldsOf)) {
    const name = String(segment.name);
    const { when, share } = readSegment(segment);
    // In Halyard, a percentage is part of a rule, not of a segment.
    const test = share === undefined ? book.add({ name, when }) : when;
    for (const entry of listOf(segment.feature_states).map(fieldsOf)) {
      const feature = String(fieldsOf(entry.feature).name);
      const priority = Number(fieldsOf(entry.feature_segment).priority ?? Number.POSITIVE_INFINITY);
      const segmentId = Number(segment.id);
      const override = { name, when: test, share, state: readState(entry), priority, segmentId };
      overrides.set(feature, [...(overrides.get(feature) ?? []), override]);
    }
  }
  const personal = new Map<string, Map<string, { keys: string[]; state: State }>>();
  for (const identity of listOf(document.identity_overrides).map(fieldsOf)) {
    for (const entry of listOf(identity.identity_features).map(fieldsOf)) {
      const feature = String(fieldsOf(entry.feature).name);
      const state = readState(entry);
      const same = personal.get(feature) ?? new Map<string, { keys: string[]; state: State }>();
      const text = JSON.stringify(state);
      const keys = [...(same.get(text)?.keys ?? []), String(identity.identifier)];
      personal.set(feature, same.set(text, { keys, state }));
    }
  }
  const uses = [...overrides.values()].flat().map(({ name }) => name);
  const isShared = (name: string) => uses.indexOf(name) !== uses.lastIndexOf(name);
  const found = states.map(fieldsOf).map((state): Found => {
    const name = textOf(fieldsOf(state.feature).name) ?? "";
    const single = [...(personal.get(name)?.values() ?? [])].map(({ keys, state: own }, index) => ({
      name: index === 0 ? "identities" : `identities-${index + 1}`,
      when: book.people(`${name}-identities`, keys),
      state: own,
    }));
    const own = (overrides.get(name) ?? []).toSorted((one, other) =>
      one.priority === other.priority
        ? one.segmentId - other.segmentId
        : one.priority - other.priority,
    );
    // The segment selects the users of a share, so features that use the same segment reach the same users.
    const isSplit =
      own.filter(({ share, state: each }) => share ?? each.options.length > 0).length > 1;
    const seeded = own.map((override) =>
      isSplit || isShared(override.name) || readState(state).options.length > 0
        ? { ...override, seed: override.name }
        : override,
    );
    const description = textOf(fieldsOf(state.feature).description);
    return { name, description, ...read(readState(state), [...single, ...seeded]) };
  });
  return { found, segments: book.found, remarks: book.remarks };
};

const oneEach = "its files contain one environment each";

export const readFlagsmith: Importer = (source) => {
  const { value } = source;
  if (Array.isArray(value)) {
    if (!value.every((entry) => isFields(entry) && typeof entry.name === "string")) {
      throw notFrom("Flagsmith", 'a list of features with "name" and "enabled" is expected');
    }
    refuseEnvironment("Flagsmith", source, oneEach);
    const found = value.map(fieldsOf).map((feature): Found => {
      const description = textOf(feature.description);
      return { name: String(feature.name), description, ...read(readState(feature), []) };
    });
    return { found, remarks: [exportRemark] };
  }
  if (isFields(value) && Array.isArray(value.feature_states)) {
    refuseEnvironment("Flagsmith", source, oneEach);
    return readEnvironment(value, value.feature_states);
  }
  throw notFrom(
    "Flagsmith",
    'a list of features, or an environment document with "feature_states", is expected',
  );
};
