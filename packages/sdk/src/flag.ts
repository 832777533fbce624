// The flag as this package shows it, written out so that its types need no other package; a test holds it against the core.

export interface BooleanFlag {
  readonly key: string;
  readonly type: "boolean";
  readonly enabled: boolean;
  readonly description: string | null;
}

export interface RolloutFlag {
  readonly key: string;
  readonly type: "rollout";
  readonly enabled: boolean;
  /** 0 to 100, with at most three decimals. */
  readonly percentage: number;
  readonly description: string | null;
}

export type Flag = BooleanFlag | RolloutFlag;

/** Whether this version of the package can evaluate it: a later server may know further types. */
export const isFlag = (value: unknown): value is Flag => {
  if (typeof value !== "object" || value === null) return false;
  const { key, type, enabled, percentage } = value as Record<string, unknown>;
  return (
    typeof key === "string" &&
    typeof enabled === "boolean" &&
    (type === "boolean" || (type === "rollout" && typeof percentage === "number"))
  );
};
