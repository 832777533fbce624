// A flag of any type in the form that decisions are compiled from, for tests of decisions alone.
import type { JsonObject } from "../../../../conformance/reference/conditions.ts";
import type { Decidable } from "../../src/targeting/decision.ts";
import type { Serve, Targeting } from "../../src/targeting/targeting.ts";

const percentageServe = (percentage: number): Serve => {
  if (percentage === 0) return "off";
  if (percentage === 100) return "on";
  const rest = Math.round(100_000 - percentage * 1_000) / 1_000;
  return [
    { variant: "on", share: percentage },
    { variant: "off", share: rest },
  ];
};

export const otherwiseOf = (flag: JsonObject): Decidable => {
  const targeting = flag as unknown as Targeting;
  const key = flag.key as string;
  const enabled = flag.enabled === true;
  if (flag.type === "variant") {
    return {
      key,
      enabled,
      variants: flag.variants as Record<string, string>,
      off: flag.off as string,
      otherwise: flag.otherwise as unknown as Serve,
      targeting,
    };
  }
  const otherwise =
    flag.type === "rollout"
      ? percentageServe(flag.percentage as number)
      : ((flag.otherwise ?? "on") as string);
  return { key, enabled, variants: { on: true, off: false }, off: "off", otherwise, targeting };
};
