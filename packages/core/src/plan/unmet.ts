// Finds flags of a plan whose prerequisites will not exist.
import type { Flag } from "../flags/registry.ts";
import type { Change } from "./plan.ts";

/** Returns each with the missing keys; `there` are the flags of the environment. */
export const unmetRequirements = (
  changes: readonly Change[],
  there: readonly Flag[],
): ReadonlyMap<string, readonly string[]> => {
  const known = new Set(there.map(({ key }) => key));
  const written = changes.flatMap((change) => {
    if (change.of !== "flag") return [];
    if (change.kind === "create") return [change.flag];
    return change.kind === "update" ? [change.after] : [];
  });
  for (const { key } of written) known.add(key);
  const unmet = new Map<string, readonly string[]>();
  const wasThere = new Set(there.map(({ key }) => key));
  // A flag that can't be created is missing for flags that require it.
  for (let before = -1; before < unmet.size; ) {
    before = unmet.size;
    for (const { key, requires = [] } of written) {
      const missing = requires.map(({ flag }) => flag).filter((flag) => !known.has(flag));
      if (missing.length === 0 || unmet.has(key)) continue;
      unmet.set(key, missing);
      if (!wasThere.has(key)) known.delete(key);
    }
  }
  return unmet;
};
