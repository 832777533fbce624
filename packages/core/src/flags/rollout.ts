// A flag that is on for a percentage of the targeting keys.
import { bucketPrefix, hashLimit } from "../bucket.ts";
import { fixedFlag, offFlag, splitFlag, staticOff, staticOn } from "../evaluate.ts";
import { allThousandths, fromThousandths, isPercentage, thousandthsOf } from "../percentage.ts";
import type { Serve } from "../targeting/targeting.ts";
import type { FlagBase, FlagType } from "./flag-type.ts";
import { onOrOff } from "./on-or-off.ts";

export interface RolloutFlag extends FlagBase {
  readonly type: "rollout";
  /** 0 to 100, with at most three decimals. */
  readonly percentage: number;
}

const serveOf = (percentage: number): Serve => {
  const thousandths = thousandthsOf(percentage);
  if (thousandths === 0) return "off";
  if (thousandths === allThousandths) return "on";
  return [
    { variant: "on", share: percentage },
    { variant: "off", share: fromThousandths(allThousandths - thousandths) },
  ];
};

const everyone = fixedFlag(staticOn);
const offForAll = fixedFlag(staticOff);

export const rolloutType: FlagType<RolloutFlag> = {
  name: "rollout",
  summary: "reaches a percentage",
  members: {
    percentage: {
      schema: {
        type: "number",
        minimum: 0,
        maximum: 100,
        multipleOf: 0.001,
        description:
          "Share of targeting keys that get the flag while it is on. Rollout flags only.",
        "x-must-be": "a number from 0 to 100 with at most three decimals",
      },
      initial: 0,
      isValid: isPercentage,
      // JSON can contain a negative zero.
      normalize: (value) => value + 0,
      format: (value, formatNumber) => `${formatNumber(value)}%`,
    },
  },
  refusal: "a rollout flag has a percentage and nothing else",
  level: 1,
  choice: ({ percentage }) => ({ ...onOrOff, otherwise: serveOf(percentage) }),
  prepare({ key, enabled, percentage }) {
    if (!enabled) return offFlag;
    const thousandths = thousandthsOf(percentage);
    if (thousandths >= allThousandths) return everyone;
    return thousandths > 0 ? splitFlag(bucketPrefix(key), hashLimit(thousandths)) : offForAll;
  },
  reach: ({ percentage }) => thousandthsOf(percentage),
};
