// Which flags a program can evaluate: a flag that uses something newer carries a higher level.

/** The highest level that this version evaluates. A flag without a level has the first. */
export const knownLevel = 1;

export const isKnownLevel = (level: unknown): boolean =>
  level === undefined || (typeof level === "number" && level <= knownLevel);
