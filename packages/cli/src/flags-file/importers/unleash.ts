// Reads what Unleash exports: features, their strategies, and whether they are on in an environment.

import { type Fields, fieldsOf, isFields, listOf, textOf } from "../loose-values.ts";
import type { Found, State } from "./convert.ts";
import { notAPercentage, percentOf } from "./percentage.ts";
import { chooseEnvironment, type Importer, notFrom } from "./source.ts";

/** The strategies for a percentage of users: the parameter with the percentage, and what it is sticky by. */
const rollouts: Readonly<Record<string, { share: string; stickiness: string | undefined }>> = {
  flexibleRollout: { share: "rollout", stickiness: undefined },
  gradualRolloutUserId: { share: "percentage", stickiness: "userId" },
  gradualRolloutSessionId: { share: "percentage", stickiness: "sessionId" },
  gradualRolloutRandom: { share: "percentage", stickiness: "random" },
};

const strategyName = (strategy: Fields): string =>
  textOf(strategy.name) ?? textOf(strategy.strategyName) ?? "unnamed";

/** The flag that one strategy amounts to. */
const readStrategy = (strategy: Fields, enabled: boolean): { state: State; reasons: string[] } => {
  const name = strategyName(strategy);
  const reasons = [
    ...(listOf(strategy.constraints).length > 0 ? ["has constraints"] : []),
    ...(listOf(strategy.segments).length > 0 ? ["uses segments"] : []),
    ...(listOf(strategy.variants).length > 0 ? ["has variants"] : []),
  ];
  if (name === "default") return { state: { type: "boolean", enabled }, reasons };
  const rollout = Object.hasOwn(rollouts, name) ? rollouts[name] : undefined;
  if (rollout === undefined) {
    return {
      state: { type: "boolean", enabled },
      reasons: [`has the strategy ${name}`, ...reasons],
    };
  }
  const parameters = fieldsOf(strategy.parameters);
  const share = percentOf(parameters[rollout.share]);
  const stickiness = rollout.stickiness ?? textOf(parameters.stickiness) ?? "default";
  if (stickiness !== "default" && stickiness !== "userId") {
    reasons.push(
      stickiness === "random"
        ? "decides at random for every request"
        : `uses ${stickiness} instead of the user`,
    );
  }
  if (share === undefined) reasons.push(notAPercentage(parameters[rollout.share]));
  return { state: { type: "rollout", enabled, percentage: share ?? 0 }, reasons };
};

export const readUnleash: Importer = ({ value, environment: asked }) => {
  if (!isFields(value) || !Array.isArray(value.features)) {
    throw notFrom("Unleash", 'a JSON object with "features" and "featureStrategies" is expected');
  }
  if (!Array.isArray(value.featureStrategies) || !Array.isArray(value.featureEnvironments)) {
    throw notFrom("Unleash", '"featureStrategies" and "featureEnvironments" are missing');
  }
  const places = value.featureEnvironments.map(fieldsOf);
  const environment = chooseEnvironment(
    places.flatMap(({ environment: name }) => textOf(name) ?? []),
    asked,
  );
  const isThere = (entry: Fields) =>
    textOf(entry.environment) === undefined || entry.environment === environment;
  const strategies = value.featureStrategies.map(fieldsOf).filter(isThere);
  const parents = new Set(
    listOf(value.dependencies)
      .map(fieldsOf)
      .filter(({ dependencies }) => listOf(dependencies).length > 0)
      .map(({ feature }) => feature),
  );

  const found = value.features.map((entry): Found => {
    const feature = fieldsOf(entry);
    const name = textOf(feature.name) ?? "";
    const place = places.find((one) => one.featureName === name && isThere(one));
    const all = strategies.filter(({ featureName }) => featureName === name);
    const used = all.filter(({ disabled }) => disabled !== true);
    const enabled = place?.enabled === true;
    const [only] = used;
    const { state, reasons } =
      only === undefined
        ? { state: { type: "boolean", enabled } as const, reasons: [] }
        : readStrategy(only, enabled);
    const isArchived = feature.archived === true;
    return {
      name,
      description: textOf(feature.description),
      state,
      archived: isArchived,
      reasons: [
        ...(isArchived ? ["is archived"] : []),
        ...(place === undefined
          ? [`is not in the environment ${environment ?? "of the file"}`]
          : []),
        ...(used.length > 1
          ? [`has ${used.length} strategies (${used.map(strategyName).join(", ")})`]
          : reasons),
        ...(used.length === 0 && all.length > 0 ? ["has only disabled strategies"] : []),
        ...(listOf(place?.variants).length > 0 || listOf(feature.variants).length > 0
          ? ["has variants"]
          : []),
        ...(parents.has(name) ? ["depends on another flag"] : []),
      ].filter((reason, index, list) => list.indexOf(reason) === index),
    };
  });
  return { found };
};
