// The two formats of GrowthBook's features: definitions for its SDKs, and its REST API, which includes all environments.
import { type Fields, fieldsOf, isFields, listOf, parsedJson, textOf } from "../../loose-values.ts";
import { chooseEnvironment, refuseEnvironment, type Source } from "../source.ts";
import { tagsOf } from "../translate/names.ts";

export interface Feature {
  readonly id: string;
  readonly description: string | undefined;
  readonly enabled: boolean;
  readonly archived: boolean;
  /** In the format for SDKs. */
  readonly definition: Fields;
  readonly tags: readonly string[];
  readonly owner: string | undefined;
  /** Why the feature can't be read. */
  readonly reason?: string;
}

export interface File {
  readonly features: readonly Feature[];
  readonly groups: Fields;
}

/** In the REST API, values are strings. */
const valueFrom = (value: unknown, type: unknown): unknown => {
  if (typeof value !== "string" || type === "string") return value;
  return parsedJson(value);
};

const groupConditions = (targeting: unknown): Fields[] =>
  listOf(targeting)
    .map(fieldsOf)
    .map(({ match, ids }) => {
      const groups = listOf(ids).map((id) => ({ $savedGroup: { id } }));
      if (match === "none") return { $nor: groups };
      return match === "any" ? { $or: groups } : { $and: groups };
    });

/** Converts a rule of the REST API to the format for SDKs. */
const ruleFrom = (rule: Fields, valueType: unknown): Fields => {
  const own = textOf(rule.condition) === undefined ? {} : parsedJson(rule.condition);
  const all = [own, ...groupConditions(rule.savedGroupTargeting)];
  const base = {
    id: rule.id,
    disabled: rule.enabled === false,
    hashAttribute: rule.hashAttribute,
    ...(rule.coverage !== undefined && { coverage: rule.coverage }),
    condition: all.length > 1 ? { $and: all } : own,
    parentConditions: rule.prerequisites,
  };
  if (listOf(rule.scheduleRules).length > 0) {
    return {
      ...base,
      force: valueFrom(rule.value, valueType),
      problem: "changes at set times",
    };
  }
  if (rule.type === "force" || rule.type === "rollout") {
    return { ...base, force: valueFrom(rule.value, valueType) };
  }
  if (rule.type === "experiment") {
    const values = listOf(rule.values ?? rule.value).map(fieldsOf);
    return {
      ...base,
      key: rule.trackingKey,
      variations: values.map(({ value }) => valueFrom(value, valueType)),
      weights: values.map(({ weight }) => weight),
      ...(fieldsOf(rule.namespace).enabled === true && { namespace: [] }),
    };
  }
  const variations = listOf(rule.variations).map((each) =>
    valueFrom(fieldsOf(each).value, valueType),
  );
  return { ...base, variations, problem: "runs an experiment whose weights are not in the file" };
};

const definitionFrom = (feature: Fields, place: Fields): Fields => {
  const definition = parsedJson(place.definition);
  if (isFields(definition)) return definition;
  const { valueType } = feature;
  const gates = listOf(feature.prerequisites)
    .map(fieldsOf)
    .map(({ id, condition }) => ({ id, condition: parsedJson(condition), gate: true }));
  return {
    defaultValue: valueFrom(place.defaultValue ?? feature.defaultValue, valueType),
    rules: [
      ...(gates.length > 0 ? [{ parentConditions: gates }] : []),
      ...listOf(place.rules).map((rule) => ruleFrom(fieldsOf(rule), valueType)),
    ],
  };
};

const fromApi = (feature: Fields, environment: string): Feature => {
  const place = fieldsOf(feature.environments)[environment];
  return {
    id: String(feature.id),
    description: textOf(feature.description),
    enabled: fieldsOf(place).enabled === true,
    archived: feature.archived === true,
    definition: definitionFrom(feature, fieldsOf(place)),
    tags: tagsOf(listOf(feature.tags)),
    owner: textOf(feature.owner),
    ...(!isFields(place) && { reason: `is not in the environment ${environment}` }),
  };
};

/** The groups by id, with their conditions as objects. */
const groupsFrom = (groups: unknown): Fields => {
  if (isFields(groups)) return groups;
  return Object.fromEntries(
    listOf(groups).map((group) => [String(fieldsOf(group).id), fieldsOf(group)]),
  );
};

/** Undefined if the file has neither format. */
export const readFile = (source: Source): File | undefined => {
  const parts = Array.isArray(source.value) ? source.value.map(fieldsOf) : [fieldsOf(source.value)];
  const groups = Object.assign({}, ...parts.map(({ savedGroups }) => groupsFrom(savedGroups)));
  const listed = parts.flatMap(({ features }) => listOf(features).map(fieldsOf));
  if (listed.length > 0) {
    const isOurs = listed.every(
      (each) => typeof each.id === "string" && isFields(each.environments),
    );
    if (!isOurs) return undefined;
    const names = listed.flatMap(({ environments }) => Object.keys(fieldsOf(environments)));
    const environment = chooseEnvironment(names, source.environment) ?? "";
    return { features: listed.map((feature) => fromApi(feature, environment)), groups };
  }
  const [{ features } = {} as Fields] = parts;
  if (!isFields(features)) return undefined;
  refuseEnvironment("GrowthBook", source, "definitions for its SDKs contain one environment");
  return {
    groups,
    features: Object.entries(features).map(([id, definition]) => ({
      id,
      description: undefined,
      enabled: true,
      archived: false,
      definition: fieldsOf(definition),
      tags: [],
      owner: undefined,
    })),
  };
};
