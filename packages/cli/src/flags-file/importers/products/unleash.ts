// Reads Unleash's exports: features, strategies, segments, variants and parents of an environment.
import { type Fields, fieldsOf, listOf, textOf } from "../../loose-values.ts";
import { ownFields, readConstraints } from "../conditions/unleash-constraints.ts";
import type { Found } from "../convert.ts";
import { chooseEnvironment, type Importer, notFrom } from "../source.ts";
import { impossible, type Test } from "../translate/logic.ts";
import { tagsOf } from "../translate/names.ts";
import { assemble, notImported, type Prerequisites } from "../translate/outline.ts";
import { createSegmentBook } from "../translate/segments.ts";
import { onOff } from "../translate/values.ts";
import { noVariant, readStrategy, readVariants } from "./unleash-strategies.ts";

/** Merges the parts of an export that was split into a list. */
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

export const readUnleash: Importer = ({ value, environment: requested }) => {
  const whole = merged(value);
  if (!Array.isArray(whole.features)) {
    throw notFrom("Unleash", 'a JSON object with "features" and "featureStrategies" is expected');
  }
  if (!Array.isArray(whole.featureStrategies) || !Array.isArray(whole.featureEnvironments)) {
    throw notFrom("Unleash", '"featureStrategies" and "featureEnvironments" are missing');
  }
  const places = whole.featureEnvironments.map(fieldsOf);
  const environments = places.flatMap(({ environment: name }) => textOf(name) ?? []);
  const environment = chooseEnvironment(environments, requested);
  const isThere = (entry: Fields) =>
    textOf(entry.environment) === undefined || entry.environment === environment;
  const strategies = whole.featureStrategies.map(fieldsOf).filter(isThere);
  const tags = listOf(whole.featureTags).map(fieldsOf);

  const book = createSegmentBook();
  const segments = new Map<string, Test>();
  // Parts with constraints first: another part can contain the same segment without them.
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
  /** A parent must be on, or return one of its variants. */
  const readParents = (name: string): Prerequisites => {
    const { requires, reasons }: Prerequisites = { requires: [], reasons: [] };
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
    const archived = feature.archived === true;
    if (archived || place === undefined) {
      const reasons = [
        ...(archived ? ["is archived"] : []),
        ...(place === undefined
          ? [`is not in the environment ${environment ?? "of the file"}`]
          : []),
      ];
      return { name, description, archived, ...notImported(...reasons) };
    }
    const all = strategies.filter(({ featureName }) => featureName === name);
    const used = all.filter(({ disabled }) => disabled !== true);
    const shared = [...listOf(place.variants), ...listOf(feature.variants)].map(fieldsOf);
    const variants = variantsOf(name, place);
    const unique = [
      ...new Map([...variants, ...shared].map((one) => [String(one.name), one])).values(),
    ];
    const read = unique.length === 0 ? undefined : readVariants(unique);
    if (typeof read === "string") return { name, description, ...notImported(read) };
    const parents = readParents(name);
    const given = {
      feature: name,
      shared,
      segmentTest,
      people: book.people,
      isVariant: read !== undefined,
    };
    // A feature without strategies is on for everyone.
    const rules = all.length === 0 ? [{}] : all;
    const { draft, asRollout, reasons, notes, isNarrower } = assemble({
      enabled: place.enabled === true,
      values: read?.values ?? onOff,
      requires: parents.requires,
      rules: rules.flatMap((strategy) =>
        readStrategy(all.length === 0 ? { name: "default" } : strategy, given),
      ),
      otherwise: read === undefined ? "off" : noVariant,
      tags: tagsOf(
        tags.filter(({ featureName }) => featureName === name).map(({ tagValue }) => tagValue),
      ),
    });
    const fields = [
      ...used.flatMap((strategy) => listOf(strategy.constraints)),
      ...known
        .filter(({ id }) => used.some((strategy) => listOf(strategy.segments).includes(id)))
        .flatMap((segment) => listOf(segment.constraints)),
    ].map((constraint) => String(fieldsOf(constraint).contextName));
    const ownNotes = ownFields
      .filter((field) => fields.includes(field))
      .map(
        (field) => `uses ${field}, which Unleash's SDKs send automatically: add it to the context`,
      );
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
