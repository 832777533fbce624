// Computes the changes that turn the current flags and segments into the target ones.
import { changeableMembers, initialOf, memberOf, patchBetween } from "../difference.ts";
import { arrange } from "../flags/arrange.ts";
import { type Flag, membersOf, type PatchFlag } from "../flags/registry.ts";
import { namedSegments } from "../targeting/references.ts";
import type { Segment } from "../targeting/segment.ts";
import { byKey } from "./by-key.ts";
import { isSameSegment } from "./same-segment.ts";

/** The content of an environment or a file. */
export interface Lists {
  readonly flags: readonly Flag[];
  readonly segments?: readonly Segment[];
}

export type FlagStep = { readonly of: "flag"; readonly key: string } & (
  | { readonly kind: "create"; readonly flag: Flag }
  | {
      readonly kind: "update";
      readonly before: Flag;
      readonly after: Flag;
      readonly patch: PatchFlag;
    }
  | { readonly kind: "delete"; readonly flag: Flag }
  /** Not possible: the field is fixed at creation. */
  | {
      readonly kind: "retype";
      readonly member: string;
      readonly before: Flag;
      readonly after: Flag;
    }
);

export type SegmentStep = { readonly of: "segment"; readonly key: string } & (
  | { readonly kind: "create"; readonly segment: Segment }
  | { readonly kind: "update"; readonly before: Segment; readonly after: Segment }
  | { readonly kind: "delete"; readonly segment: Segment }
);

export type Change = FlagStep | SegmentStep;

export interface Plan {
  /** Segments before flags, each sorted by key. */
  readonly changes: readonly Change[];
  readonly unchanged: { readonly flags: number; readonly segments: number };
}

interface PlanOptions {
  /** Also delete flags and segments that are not in the target. */
  readonly prune?: boolean | undefined;
  /** Flags that `prune` never deletes. */
  readonly keep?: ReadonlySet<string>;
  /** Flags to create if missing, but never to change. */
  readonly createOnly?: ReadonlySet<string>;
  /** Create missing segments, but never change existing ones. */
  readonly keepSegments?: boolean;
  /** Change only these fields; all by default. A new flag gets the initial values of the others. */
  readonly members?: readonly string[];
}

/** `from` with the chosen fields of `flag`. Fields without an initial value are always copied to a new flag. */
const takeMembers = (
  from: Flag,
  flag: Flag,
  members: readonly string[] | undefined,
  isNew: boolean,
): Flag => {
  if (members === undefined) return flag;
  const known = new Map(membersOf(flag.type));
  const isTaken = (name: string): boolean => {
    const { onlyWith, isOptional, initial } = known.get(name) ?? {};
    const isNeeded = isNew && known.has(name) && isOptional !== true && initial === undefined;
    return (
      isNeeded || members.includes(name) || (onlyWith !== undefined && members.includes(onlyWith))
    );
  };
  const taken = changeableMembers(flag.type)
    .filter(isTaken)
    .map((name) => [name, memberOf(flag, name)]);
  return arrange({ ...from, ...(Object.fromEntries(taken) as object) });
};

/** A field that differs and can't be changed. */
const fixedDifference = (before: Flag, after: Flag): string | undefined => {
  if (before.type !== after.type) return "type";
  const fixed = membersOf(after.type).find(
    ([name, { isFixed }]) => isFixed === true && memberOf(before, name) !== memberOf(after, name),
  );
  return fixed?.[0];
};

const planFlags = (
  current: readonly Flag[],
  target: readonly Flag[],
  { prune = false, keep = new Set(), createOnly = new Set(), members }: PlanOptions,
): readonly FlagStep[] => {
  const now = new Map(current.map((flag) => [flag.key, flag]));
  const steps: FlagStep[] = [];
  for (const flag of target) {
    const { key } = flag;
    const before = now.get(key);
    if (before === undefined) {
      const made = takeMembers(initialOf(flag), flag, members, true);
      steps.push({ of: "flag", kind: "create", key, flag: made });
      continue;
    }
    if (createOnly.has(key)) continue;
    const member = fixedDifference(before, flag);
    if (member !== undefined) {
      steps.push({ of: "flag", kind: "retype", key, member, before, after: flag });
      continue;
    }
    const after = takeMembers(before, flag, members, false);
    const patch = patchBetween(before, after);
    if (Object.keys(patch).length > 0) {
      steps.push({ of: "flag", kind: "update", key, before, after, patch });
    }
  }
  if (!prune) return steps.sort(byKey);
  const named = new Set(target.map(({ key }) => key));
  const gone = current.filter(({ key }) => !named.has(key) && !keep.has(key));
  return [
    ...steps,
    ...gone.map((flag): FlagStep => ({ of: "flag", kind: "delete", key: flag.key, flag })),
  ].sort(byKey);
};

/** The segments that flags reference after the steps. */
const namedAfter = (current: readonly Flag[], steps: readonly FlagStep[]): ReadonlySet<string> => {
  const flags = new Map(current.map((flag) => [flag.key, flag]));
  for (const step of steps) {
    if (step.kind === "delete") flags.delete(step.key);
    else if (step.kind === "create") flags.set(step.key, step.flag);
    else if (step.kind === "update") flags.set(step.key, step.after);
  }
  return new Set([...flags.values()].flatMap(namedSegments).map(({ key }) => key));
};

const planSegments = (
  current: readonly Segment[],
  target: readonly Segment[],
  isNamed: (key: string) => boolean,
  { prune = false, keepSegments = false }: PlanOptions,
): readonly SegmentStep[] => {
  const now = new Map(current.map((segment) => [segment.key, segment]));
  const steps = target.flatMap((segment): SegmentStep[] => {
    const { key } = segment;
    const before = now.get(key);
    if (before === undefined) return [{ of: "segment", kind: "create", key, segment }];
    if (keepSegments || isSameSegment(before, segment)) return [];
    return [{ of: "segment", kind: "update", key, before, after: segment }];
  });
  const wanted = new Set(target.map(({ key }) => key));
  const gone = prune ? current.filter(({ key }) => !wanted.has(key) && !isNamed(key)) : [];
  return [
    ...steps,
    ...gone.map(
      (segment): SegmentStep => ({ of: "segment", kind: "delete", key: segment.key, segment }),
    ),
  ].sort(byKey);
};

export const planChanges = (current: Lists, target: Lists, options: PlanOptions = {}): Plan => {
  const flags = planFlags(current.flags, target.flags, options);
  const named = namedAfter(current.flags, flags);
  const wanted = target.segments ?? [];
  const segments = planSegments(current.segments ?? [], wanted, (key) => named.has(key), options);
  const touched = (steps: readonly Change[]) =>
    steps.filter(({ kind }) => kind !== "delete").length;
  return {
    changes: [...segments, ...flags],
    unchanged: {
      flags: target.flags.length - touched(flags),
      segments: wanted.length - touched(segments),
    },
  };
};
