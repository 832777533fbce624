// Environments as works have left them, so that the next change of one need not read it.
import type { Decision, VersionedFlag } from "../../domain/change.ts";
import type { LockedRow } from "./lock.ts";

export interface LeftEnvironment extends LockedRow {
  /** Those that are known; undefined for those that are not there. */
  readonly flags: Map<string, VersionedFlag | undefined>;
}

export const keepFlag = ({ flags }: LeftEnvironment, decision: Decision): void => {
  if (decision.kind !== "flag") return;
  const { key, after: flag, version, level } = decision;
  flags.set(key, flag ? { flag, version, level } : undefined);
};

/** Whoever takes one leaves it again, or it is forgotten. */
export const take = (
  environments: Map<number, LeftEnvironment> | undefined,
  id: number,
): LeftEnvironment | undefined => {
  const found = environments?.get(id);
  environments?.delete(id);
  return found;
};

/** Flags that are kept of an environment. */
const maxFlags = 1_000;

/** Milliseconds for which nothing is kept after another instance has changed something: while both write, looking is cheaper. */
const quiet = 1_000;

/** Across transactions: what is kept may have been changed since. */
export const keepEnvironments = () => {
  const kept = new Map<number, LeftEnvironment>();
  let othersWrote = Number.NEGATIVE_INFINITY;
  return {
    kept,
    keep(left: ReadonlyMap<number, LeftEnvironment>): void {
      if (performance.now() - othersWrote < quiet) return;
      for (const [id, environment] of left) {
        // What is not whole is not insisted on.
        if (!environment.isWhole) continue;
        if (environment.flags.size > maxFlags) environment.flags.clear();
        kept.set(id, environment);
      }
    },
    /** Another instance has changed something. */
    forget(): void {
      kept.clear();
      othersWrote = performance.now();
    },
  };
};
