// Short texts for the result of a flag.
import type { Outcome } from "./flips.ts";

export const givenText = (outcome: Outcome): string => {
  if (!("errorCode" in outcome)) return outcome.variant;
  switch (outcome.errorCode) {
    case "FLAG_NOT_FOUND":
      return "the default of your code";
    case "TARGETING_KEY_MISSING":
      return "an error, without a targeting key";
    default:
      return `an error (${outcome.errorCode})`;
  }
};

const reasons: Readonly<Record<string, string>> = {
  DEFAULT: "default rule",
  DISABLED: "while off",
  PREREQUISITE_FAILED: "prerequisite not met",
};

/** What decided the result; undefined if it is obvious. */
const byWhat = (outcome: Outcome): string | undefined => {
  // Off while the flag is off needs no explanation.
  if ("errorCode" in outcome || (outcome.variant === "off" && outcome.reason === "DISABLED"))
    return undefined;
  return outcome.rule === null ? reasons[outcome.reason] : `rule ${outcome.rule}`;
};

/** Such as "on (rule beta)". */
export const outcomeText = (outcome: Outcome): string => {
  const by = byWhat(outcome);
  return by === undefined ? givenText(outcome) : `${givenText(outcome)} (${by})`;
};
