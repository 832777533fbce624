// The cases of targeting.json: each with the answer of the reference.
import type { Json, JsonObject, World } from "../reference/conditions.ts";
import { type Answer, referenceAnswer } from "../reference/evaluate.ts";
import { flagGroups } from "./flags.ts";
import { operatorGroups } from "./operators.ts";

export interface TargetingGroup {
  readonly name: string;
  readonly flags: readonly JsonObject[];
  readonly segments: readonly JsonObject[];
  readonly cases: readonly {
    readonly flag: string;
    readonly context: JsonObject;
    readonly expected: Answer;
  }[];
}

const ofOperator = ({
  name,
  condition,
  values,
}: (typeof operatorGroups)[number]): TargetingGroup => {
  const flagOf = (key: string, when: JsonObject): JsonObject => ({
    key,
    type: "boolean",
    enabled: true,
    rules: [{ id: "it", when, serve: "on" }],
    otherwise: "off",
    description: null,
  });
  // Beside its opposite: what is unknown matches neither.
  const flags = [flagOf("matches", condition), flagOf("does-not", { not: condition })];
  const world: World = {
    flags: Object.fromEntries(flags.map((flag) => [flag.key as string, flag])),
    segments: {},
  };
  const contextOf = (value: Json | undefined): JsonObject =>
    value === undefined ? {} : { a: value };
  return {
    name,
    flags,
    segments: [],
    cases: values.flatMap((value) =>
      flags.map((flag) => ({
        flag: flag.key as string,
        context: contextOf(value),
        expected: referenceAnswer(flag, contextOf(value), world),
      })),
    ),
  };
};

export const targetingGroups = (): readonly TargetingGroup[] => [
  ...operatorGroups.map(ofOperator),
  ...flagGroups.map(({ name, world, flags, contexts }) => ({
    name,
    flags: Object.values(world.flags),
    segments: Object.values(world.segments),
    cases: flags.flatMap((key) =>
      contexts.map((context) => ({
        flag: key,
        context,
        expected: referenceAnswer(world.flags[key] ?? {}, context, world),
      })),
    ),
  })),
];
