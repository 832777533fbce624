// Findings of compiling a flag: why it is left out, or for which contexts the definition is exact.

export interface Findings {
  /** flagd can't express it, or its engines disagree on it. */
  readonly leaveOut: (reason: string) => void;
  /** The definition is exact only for contexts that fit the reason. */
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
