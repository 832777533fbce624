// What was found while a flag was compiled: why it is left out, or for which contexts it is exact.

export interface Findings {
  /** flagd cannot say it, or its engines do not agree on it. */
  readonly leaveOut: (reason: string) => void;
  /** It is exact for the contexts that the reason names. */
  readonly limit: (reason: string) => void;
}

export interface Collected extends Findings {
  readonly leftOut: Set<string>;
  readonly limits: Set<string>;
}

export const collectFindings = (): Collected => {
  const leftOut = new Set<string>();
  const limits = new Set<string>();
  return {
    leftOut,
    limits,
    leaveOut: (reason) => void leftOut.add(reason),
    limit: (reason) => void limits.add(reason),
  };
};

export const repeatFindings = (from: Collected, to: Findings): void => {
  for (const reason of from.leftOut) to.leaveOut(reason);
  for (const reason of from.limits) to.limit(reason);
};
