// What has to change so that flags become as they are wanted: decided from values alone, before anything is sent.
import type { Flag, FlagPatch } from "@halyard/sdk";
import { byKey } from "../flags-file.ts";

export const changeableFields = ["enabled", "percentage", "description"] as const;
export type ChangeableField = (typeof changeableFields)[number];

export type Change =
  | { readonly kind: "create"; readonly key: string; readonly flag: Flag }
  | {
      readonly kind: "update";
      readonly key: string;
      readonly before: Flag;
      readonly patch: FlagPatch;
    }
  | { readonly kind: "delete"; readonly key: string; readonly flag: Flag }
  /** It cannot be carried out: the type is fixed at creation. */
  | { readonly kind: "retype"; readonly key: string; readonly before: Flag; readonly after: Flag };

export interface Plan {
  /** Sorted by key. */
  readonly changes: readonly Change[];
  readonly unchanged: number;
}

interface PlanOptions {
  /** Also delete what is not wanted. */
  readonly prune?: boolean | undefined;
  /** Never deleted, though it is not among the wanted. */
  readonly keep?: ReadonlySet<string>;
  /** Created when it is missing, and otherwise left alone. */
  readonly createOnly?: ReadonlySet<string>;
  /** The others stay as they are; in a new flag, as in every new flag. */
  readonly fields?: readonly ChangeableField[];
}

const fieldOf = (flag: Flag, field: ChangeableField): unknown =>
  field === "percentage" ? (flag as { percentage?: number }).percentage : flag[field];

export const isSame = (a: Flag, b: Flag): boolean =>
  a.type === b.type && changeableFields.every((field) => fieldOf(a, field) === fieldOf(b, field));

const newFlag = (flag: Flag, fields: readonly ChangeableField[]): Flag => {
  const chosen = Object.fromEntries(
    changeableFields
      .filter((field) => fields.includes(field) && fieldOf(flag, field) !== undefined)
      .map((field) => [field, fieldOf(flag, field)]),
  );
  const { key } = flag;
  return flag.type === "rollout"
    ? { key, type: "rollout", enabled: false, percentage: 0, description: null, ...chosen }
    : { key, type: "boolean", enabled: false, description: null, ...chosen };
};

export const planChanges = (
  current: readonly Flag[],
  wanted: readonly Flag[],
  {
    prune = false,
    keep = new Set(),
    createOnly = new Set(),
    fields = changeableFields,
  }: PlanOptions = {},
): Plan => {
  const now = new Map(current.map((flag) => [flag.key, flag]));
  const changes: Change[] = [];
  for (const flag of wanted) {
    const { key } = flag;
    const before = now.get(key);
    if (before === undefined) {
      changes.push({ kind: "create", key, flag: newFlag(flag, fields) });
    } else if (before.type !== flag.type && !createOnly.has(key)) {
      changes.push({ kind: "retype", key, before, after: flag });
    } else if (!createOnly.has(key)) {
      const patch = Object.fromEntries(
        fields
          .filter((field) => fieldOf(before, field) !== fieldOf(flag, field))
          .map((field) => [field, fieldOf(flag, field)]),
      ) as FlagPatch;
      if (Object.keys(patch).length > 0) changes.push({ kind: "update", key, before, patch });
    }
  }
  const unchanged = wanted.length - changes.length;
  if (prune) {
    const asked = new Set(wanted.map(({ key }) => key));
    for (const flag of current) {
      const { key } = flag;
      if (!asked.has(key) && !keep.has(key)) changes.push({ kind: "delete", key, flag });
    }
  }
  return { changes: changes.sort(byKey), unchanged };
};
