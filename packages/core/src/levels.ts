// Compatibility levels: a flag that uses a newer feature has a higher level, so that older clients do not evaluate it.

/** The level of flags with rules, prerequisites, variants or custom bucketing, and the highest that this version evaluates. */
export const targetingLevel = 2;

export const isKnownLevel = (level: unknown): boolean =>
  level === undefined || (typeof level === "number" && level <= targetingLevel);
