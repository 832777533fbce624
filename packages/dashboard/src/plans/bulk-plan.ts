// What an action does to each of the selected flags, as a plan.
import { patchBetween } from "@halyard/core/difference";
import { applyPatch } from "@halyard/core/flags/change";
import type { Flag, PatchFlag } from "@halyard/core/flags/registry";
import type { FlagStep, Plan } from "@halyard/core/plan/plan";

export type BulkAction = "on" | "off" | "delete" | "addTag" | "removeTag";

interface BulkPlan {
  readonly plan: Plan;
  /** Flags that cannot be changed so, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Undefined for one that is deleted. */
const patchFor = (action: BulkAction, tag: string, { tags = [] }: Flag): PatchFlag | undefined => {
  switch (action) {
    case "on":
      return { enabled: true };
    case "off":
      return { enabled: false };
    case "addTag":
      return tags.includes(tag) ? {} : { tags: [...tags, tag] };
    case "removeTag":
      return tags.includes(tag) ? { tags: tags.filter((each) => each !== tag) } : {};
    case "delete":
      return undefined;
  }
};

export const planBulk = (action: BulkAction, tag: string, flags: readonly Flag[]): BulkPlan => {
  const refused = new Map<string, string>();
  const changes = flags.flatMap((before): FlagStep[] => {
    const { key } = before;
    const asked = patchFor(action, tag, before);
    if (asked === undefined) return [{ of: "flag", kind: "delete", key, flag: before }];
    const changed = applyPatch(before, asked);
    const after = changed.ok ? changed.flag : ({ ...before, ...asked } as Flag);
    if (!changed.ok) {
      const reasons = changed.errors.map(({ place, message }) => `${place} ${message}`);
      refused.set(key, `${reasons.join("; ")}.`);
    }
    const patch = patchBetween(before, after);
    if (Object.keys(patch).length === 0) return [];
    return [{ of: "flag", kind: "update", key, before, after, patch }];
  });
  const plan = {
    changes,
    unchanged: { flags: flags.length - changes.length, segments: 0 },
  };
  return { plan, refused };
};
