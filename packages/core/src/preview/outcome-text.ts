// What a flag gives somebody, in words.
import type { Outcome } from "./flips.ts";

/** What a flag gives, in a word or two. */
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
  DEFAULT: "everyone else",
  DISABLED: "while off",
  PREREQUISITE_FAILED: "requirement not met",
};

/** What decides it; nothing where there is nothing to tell apart. */
const byWhat = (outcome: Outcome): string | undefined => {
  // Who gets off while it is off need not be told why.
  if ("errorCode" in outcome || (outcome.variant === "off" && outcome.reason === "DISABLED"))
    return undefined;
  return outcome.rule === null ? reasons[outcome.reason] : `rule ${outcome.rule}`;
};

/** "on (rule beta)". */
export const outcomeText = (outcome: Outcome): string => {
  const by = byWhat(outcome);
  return by === undefined ? givenText(outcome) : `${givenText(outcome)} (${by})`;
};
