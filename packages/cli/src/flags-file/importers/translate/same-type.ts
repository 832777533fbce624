// Chooses one type per flag for all environments of a file, so that flags can be promoted between them.
import type { Found } from "../convert.ts";
import type { Draft } from "./outline.ts";

/** The flags of one environment, with the types that fit all environments. */
export const withSameTypes = (
  found: readonly Found[],
  others: readonly (readonly Found[])[],
): readonly Found[] => {
  const types = new Map<string, Set<Draft["type"]>>();
  for (const { name, draft, archived } of [found, ...others].flat()) {
    if (archived !== true) types.set(name, (types.get(name) ?? new Set()).add(draft.type));
  }
  return found.map((one) => {
    const draft = types.get(one.name)?.has("rollout") ? one.asRollout : undefined;
    return draft === undefined ? one : { ...one, draft };
  });
};
