// Plans the changes from the current flags to the target flags, from values alone and before anything is sent.
import { changeableMembers, initialOf, memberOf, patchBetween } from "@halyard/core/difference";
import type { Flag, PatchFlag } from "@halyard/core/flags/registry";
import { byKey } from "../flags-file.ts";

export type Change =
  | { readonly kind: "create"; readonly key: string; readonly flag: Flag }
  | {
      readonly kind: "update";
      readonly key: string;
      readonly before: Flag;
      readonly after: Flag;
      readonly patch: PatchFlag;
    }
  | { readonly kind: "delete"; readonly key: string; readonly flag: Flag }
  /** Not possible: the type is fixed at creation. */
  | { readonly kind: "retype"; readonly key: string; readonly before: Flag; readonly after: Flag };

export interface Plan {
  /** Sorted by key. */
  readonly changes: readonly Change[];
  readonly unchanged: number;
}

interface PlanOptions {
  /** Also delete flags that are not in the target state. */
  readonly prune?: boolean | undefined;
  /** Never deleted by `prune`. */
  readonly keep?: ReadonlySet<string>;
  /** Created when missing, otherwise not changed. */
  readonly createOnly?: ReadonlySet<string>;
  /** Only these members change, all of them by default; a new flag has the initial values of the others. */
  readonly members?: readonly string[];
}

/** `from` with the chosen members of `flag`. */
const takeMembers = (from: Flag, flag: Flag, members: readonly string[] | undefined): Flag => {
  if (members === undefined) return flag;
  const taken = changeableMembers(flag.type)
    .filter((name) => members.includes(name))
    .map((name) => [name, memberOf(flag, name)]);
  return { ...from, ...(Object.fromEntries(taken) as object) };
};

export const planChanges = (
  current: readonly Flag[],
  target: readonly Flag[],
  { prune = false, keep = new Set(), createOnly = new Set(), members }: PlanOptions = {},
): Plan => {
  const now = new Map(current.map((flag) => [flag.key, flag]));
  const changes: Change[] = [];
  for (const flag of target) {
    const { key } = flag;
    const before = now.get(key);
    if (before === undefined) {
      changes.push({ kind: "create", key, flag: takeMembers(initialOf(flag), flag, members) });
    } else if (createOnly.has(key)) {
    } else if (before.type === flag.type) {
      const after = takeMembers(before, flag, members);
      const patch = patchBetween(before, after);
      if (Object.keys(patch).length > 0) {
        changes.push({ kind: "update", key, before, after, patch });
      }
    } else {
      changes.push({ kind: "retype", key, before, after: flag });
    }
  }
  const unchanged = target.length - changes.length;
  if (prune) {
    const named = new Set(target.map(({ key }) => key));
    for (const flag of current) {
      const { key } = flag;
      if (!named.has(key) && !keep.has(key)) changes.push({ kind: "delete", key, flag });
    }
  }
  return { changes: changes.sort(byKey), unchanged };
};
