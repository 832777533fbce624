// Which flags a program can evaluate: a flag that uses something newer carries a higher level.

/** Of flags with rules, requirements, variants or another way to split. */
export const targetingLevel = 2;

/** The highest level that this version evaluates. A flag without a level has the first. */
export const knownLevel = targetingLevel;

export const isKnownLevel = (level: unknown): boolean =>
  level === undefined || (typeof level === "number" && level <= knownLevel);
