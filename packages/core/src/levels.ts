// Which flags a program can evaluate: a flag that uses something newer carries a higher level.

/** Of flags with rules, requirements, variants or another way to split; the highest that this version evaluates. */
export const targetingLevel = 2;

export const isKnownLevel = (level: unknown): boolean =>
  level === undefined || (typeof level === "number" && level <= targetingLevel);
