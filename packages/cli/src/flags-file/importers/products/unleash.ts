// Reads what Unleash exports: features, strategies, segments, variants and parents of an environment.
import { type Fields, fieldsOf, listOf, textOf } from "../../loose-values.ts";
import { ownFields, readConstraints } from "../conditions/unleash-constraints.ts";
import type { Found } from "../convert.ts";
import { chooseEnvironment, type Importer, notFrom } from "../source.ts";
import { impossible, type Test } from "../translate/logic.ts";
import { assemble } from "../translate/outline.ts";
import { createSegmentBook } from "../translate/segments.ts";
import { onOff } from "../translate/values.ts";
import { noVariant, readStrategy, readVariants } from "./unleash-strategies.ts";

/** Several parts of an export in one list are one export. */
const merged = (value: unknown): Fields => {
  if (!Array.isArray(value)) return fieldsOf(value);
  const lists: Record<string, unknown[]> = {};
  for (const part of value.map(fieldsOf)) {
    for (const [name, list] of Object.entries(part)) {
      lists[name] = [...(lists[name] ?? []), ...listOf(list)];
    }
  }
  return lists;
};

export const readUnleash: Importer = ({ value, environment: asked }) => {
  const whole = merged(value);
  if (!Array.isArray(whole.features)) {
    throw notFrom("Unleash", 'a JSON object with "features" and "featureStrategies" is expected');
  }
  if (!Array.isArray(whole.featureStrategies) || !Array.isArray(whole.featureEnvironments)) {
    throw notFrom("Unleash", '"featureStrategies" and "featureEnvironments" are missing');
  }
  const places = whole.featureEnvironments.map(fieldsOf);
  const environments = places.flatMap(({ environment: name }) => textOf(name) ?? []);
  const environment = chooseEnvironment(environments, asked);
  const isThere = (entry: Fields) =>
    textOf(entry.environment) === undefined || entry.environment === environment;
  const strategies = whole.featureStrategies.map(fieldsOf).filter(isThere);
  const tags = listOf(whole.featureTags).map(fieldsOf);

  const book = createSegmentBook();
  const segments = new Map<string, Test>();
  // A later part may have the constraints that an earlier one only names.
  const known = listOf(whole.segments).map(fieldsOf);
  for (const { id, name, description, constraints } of known.toSorted(
    (one, other) =>
      Number(Array.isArray(other.constraints)) - Number(Array.isArray(one.constraints)),
  )) {
    if (segments.has(String(id))) continue;
    const missing = `uses the segment "${String(name)}", whose constraints are not in the file`;
    const test = Array.isArray(constraints)
      ? book.add({
          name: String(name),
          description: textOf(description),
          when: readConstraints(constraints),
        })
      : impossible(missing);
    segments.set(String(id), test);
  }
  const segmentTest = (id: unknown): Test =>
    segments.get(String(id)) ??
    impossible(`uses the segment ${String(id)}, which is not in the file`);

  const variantsOf = (name: string, place: Fields | undefined): readonly Fields[] => {
    const shared = listOf(place?.variants).map(fieldsOf);
    const own = strategies
      .filter(({ featureName }) => featureName === name)
      .flatMap((strategy) => listOf(strategy.variants).map(fieldsOf));
    return [...own, ...shared];
  };

  const placeOf = (name: string) => places.find((one) => one.featureName === name && isThere(one));
  /** Unleash asks whether the parent is on, or which of its variants it gives. */
  const readParents = (
    name: string,
  ): { requires: { flag: string; variant: string }[]; reasons: string[] } => {
    const requires: { flag: string; variant: string }[] = [];
    const reasons: string[] = [];
    const parents = listOf(whole.dependencies)
      .map(fieldsOf)
      .filter(({ feature }) => feature === name)
      .flatMap(({ dependencies }) => listOf(dependencies).map(fieldsOf));
    for (const parent of parents) {
      const flag = String(parent.feature);
      const known = [
        ...new Set(variantsOf(flag, placeOf(flag)).map(({ name: variant }) => String(variant))),
      ];
      const named = listOf(parent.variants).map(String);
      const wanted = named.length > 0 ? named : known.length > 0 ? known : ["on"];
      const [variant = ""] = wanted;
      if (parent.enabled === false)
        requires.push({ flag, variant: known.length > 0 ? noVariant : "off" });
      else if (wanted.length === 1) requires.push({ flag, variant });
      else reasons.push(`depends on one of several variants of ${flag}`);
    }
    return { requires, reasons };
  };

  const found = whole.features.map((entry): Found => {
    const feature = fieldsOf(entry);
    const name = textOf(feature.name) ?? "";
    const description = textOf(feature.description);
    const place = placeOf(name);
    const off = { draft: { type: "boolean", enabled: false } } as const;
    const notThere =
      place === undefined ? [`is not in the environment ${environment ?? "of the file"}`] : [];
    if (feature.archived === true) {
      return { name, description, archived: true, reasons: ["is archived", ...notThere], ...off };
    }
    if (notThere.length > 0) return { name, description, reasons: notThere, ...off };
    const all = strategies.filter(({ featureName }) => featureName === name);
    const used = all.filter(({ disabled }) => disabled !== true);
    const shared = [...listOf(place?.variants), ...listOf(feature.variants)].map(fieldsOf);
    const variants = variantsOf(name, place);
    const unique = [
      ...new Map([...variants, ...shared].map((one) => [String(one.name), one])).values(),
    ];
    const read = unique.length === 0 ? undefined : readVariants(unique);
    if (typeof read === "string") return { name, description, reasons: [read], ...off };
    const parents = readParents(name);
    const given = {
      feature: name,
      shared,
      segmentTest,
      people: book.people,
      isVariant: read !== undefined,
    };
    // Without any strategy a feature is on for everyone.
    const rules = all.length === 0 ? [{}] : all;
    const { draft, asRollout, reasons, notes, isNarrower } = assemble({
      enabled: place?.enabled === true,
      values: read?.values ?? onOff,
      requires: parents.requires,
      rules: rules.flatMap((strategy) =>
        readStrategy(all.length === 0 ? { name: "default" } : strategy, given),
      ),
      otherwise: read === undefined ? "off" : noVariant,
      tags: tags
        .filter(({ featureName }) => featureName === name)
        .flatMap(({ tagValue }) => textOf(tagValue) ?? [])
        .slice(0, 20),
    });
    const asked = [
      ...used.flatMap((strategy) => listOf(strategy.constraints)),
      ...known
        .filter(({ id }) => used.some((strategy) => listOf(strategy.segments).includes(id)))
        .flatMap((segment) => listOf(segment.constraints)),
    ].map((constraint) => String(fieldsOf(constraint).contextName));
    const ownNotes = ownFields
      .filter((field) => asked.includes(field))
      .map((field) => `asks for ${field}, which Unleash's SDKs send by themselves: send it too`);
    const sleeping = used.length === 0 && all.length > 0 ? ["has only disabled strategies"] : [];
    return {
      name,
      description,
      draft,
      asRollout,
      isNarrower: isNarrower || ownNotes.length > 0,
      reasons: [...new Set([...reasons, ...parents.reasons, ...sleeping])],
      notes: [...notes, ...ownNotes, ...(read === undefined ? [] : [read.note])],
    };
  });
  return {
    found,
    environments: [...new Set(environments)],
    segments: book.found,
    remarks: book.remarks,
  };
};
