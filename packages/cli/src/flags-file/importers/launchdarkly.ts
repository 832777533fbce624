// Reads flags as the REST API of LaunchDarkly gives them: one flag, a list, or several pages of a list.

import { type Fields, fieldsOf, isFields, listOf, textOf } from "../loose-values.ts";
import type { Found, State } from "./convert.ts";
import { notAPercentage, percentageOf } from "./percentage.ts";
import { chooseEnvironment, type Importer, notFrom } from "./source.ts";

/** In thousandths of a percent. */
const wholeWeight = 100_000;

const isFlag = (value: unknown): value is Fields =>
  isFields(value) && typeof value.key === "string" && Array.isArray(value.variations);

const flagsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value.flatMap(flagsOf);
  return isFields(value) && Array.isArray(value.items) ? value.items : [value];
};

/** The value of a served variation; undefined when it is neither true nor false. */
const servedBy = (flag: Fields, index: unknown): boolean | undefined => {
  const value = typeof index === "number" ? fieldsOf(listOf(flag.variations)[index]).value : null;
  return typeof value === "boolean" ? value : undefined;
};

const readRollout = (
  flag: Fields,
  rollout: Fields,
  enabled: boolean,
): { state: State; reasons: string[] } => {
  const reasons: string[] = [];
  const { kind, bucketBy, contextKind } = rollout;
  if (kind === "experiment" || isFields(rollout.experimentAllocation)) {
    reasons.push("runs an experiment");
  }
  if (textOf(bucketBy) !== undefined && bucketBy !== "key") {
    reasons.push(`uses ${String(bucketBy)} instead of the user's key`);
  }
  if (textOf(contextKind) !== undefined && contextKind !== "user") {
    reasons.push(`uses ${String(contextKind)} instead of the user`);
  }
  const weights = listOf(rollout.variations).map(fieldsOf);
  const sum = (those: readonly Fields[]) =>
    those.reduce((total, { weight }) => total + (typeof weight === "number" ? weight : 0), 0);
  const on = sum(weights.filter(({ variation }) => servedBy(flag, variation) === true));
  const share = percentageOf(on, wholeWeight);
  if (sum(weights) !== wholeWeight) {
    reasons.push(`has weights with a sum of ${sum(weights)} instead of ${wholeWeight}`);
  } else if (share === undefined) reasons.push(notAPercentage(`${on} / ${wholeWeight}`));
  return { state: { type: "rollout", enabled, percentage: share ?? 0 }, reasons };
};

/** What applies before the default rule. */
const exceptions: readonly (readonly [field: string, reason: string])[] = [
  ["prerequisites", "has prerequisites"],
  ["targets", "has individual targets"],
  ["contextTargets", "has individual targets"],
  ["rules", "has targeting rules"],
];

const readPlace = (flag: Fields, place: Fields): { state: State; reasons: string[] } => {
  const values = listOf(flag.variations).map((variation) => fieldsOf(variation).value);
  const isOn = place.on === true;
  if (!values.every((value) => typeof value === "boolean")) {
    const state = { type: "boolean", enabled: false } as const;
    return { state, reasons: ["serves values other than true and false"] };
  }
  if (!isFields(place.fallthrough)) {
    const state = { type: "boolean", enabled: false } as const;
    return { state, reasons: ["is in the file as a summary only: request it with summary=0"] };
  }
  const reasons = exceptions
    .filter(([field]) => listOf(place[field]).some(hasContent))
    .map(([, reason]) => reason);
  const whenOff = servedBy(flag, place.offVariation);
  if (whenOff !== false) {
    reasons.push(
      whenOff === true
        ? "serves true while it is off"
        : "serves the default in the code while it is off",
    );
  }
  const { variation, rollout } = place.fallthrough;
  if (isFields(rollout)) {
    const read = readRollout(flag, rollout, isOn);
    return { state: read.state, reasons: [...new Set([...reasons, ...read.reasons])] };
  }
  const served = servedBy(flag, variation);
  if (served === undefined) reasons.push("serves nothing by default");
  // On and serving false to everyone is the same as off in Halyard.
  const state = { type: "boolean", enabled: isOn && served === true } as const;
  return { state, reasons: [...new Set(reasons)] };
};

/** A list of targets may be left empty. */
const hasContent = (entry: unknown): boolean =>
  !isFields(entry) || !Array.isArray(entry.values) || entry.values.length > 0;

export const readLaunchDarkly: Importer = ({ value, environment: asked }) => {
  const flags = flagsOf(value);
  if (!flags.every(isFlag)) {
    throw notFrom(
      "LaunchDarkly",
      'the response of its REST API is expected, "items" with flags that have "key" and "variations"',
    );
  }
  const environment = chooseEnvironment(
    flags.flatMap((flag) => Object.keys(fieldsOf(flag.environments))),
    asked,
  );
  const total = (Array.isArray(value) ? value : [value]).reduce<number>(
    (most, page) => Math.max(most, Number(fieldsOf(page).totalCount) || 0),
    0,
  );
  const found = flags.map((flag): Found => {
    const place = fieldsOf(flag.environments)[environment ?? ""];
    const name = String(flag.key);
    const title = textOf(flag.name);
    const description = textOf(flag.description) ?? (title === name ? undefined : title);
    const isArchived = flag.archived === true || fieldsOf(place).archived === true;
    if (!isFields(place)) {
      const reasons = [`is not in the environment ${environment ?? "of the file"}`];
      return { name, description, state: { type: "boolean", enabled: false }, reasons };
    }
    const { state, reasons } = readPlace(flag, place);
    return {
      name,
      description,
      state,
      archived: isArchived,
      reasons: [...(isArchived ? ["is archived"] : []), ...reasons],
    };
  });
  return {
    found,
    remarks:
      total > flags.length
        ? [
            `The file contains ${flags.length} of the ${total} flags that LaunchDarkly has: fetch the other pages too.`,
          ]
        : [],
  };
};
