// Splits a plan into parts that the server can preview separately.
import type { Flag } from "@halyard/core/flags/registry";
import type { Change } from "@halyard/core/plan/plan";
import { namedSegments } from "@halyard/core/targeting/references";

type Sized = (changes: readonly Change[]) => boolean;

const flagIn = (change: Change): Flag | undefined => {
  if (change.of === "segment") return undefined;
  if (change.kind === "create") return change.flag;
  return change.kind === "update" ? change.after : undefined;
};

/** The flags and segments that the change references. */
const namedIn = (change: Change): readonly string[] => {
  const flag = flagIn(change);
  if (flag === undefined) return [];
  return [
    ...namedSegments(flag).map(({ key }) => `segment ${key}`),
    ...(flag.requires ?? []).map(({ flag: key }) => `flag ${key}`),
  ];
};

/**
 * Nothing of a preview is stored, so a part can't refer to what another part creates. Each part also has the new flags and
 * segments that its changes reference, even if an earlier part has them.
 */
export const previewParts = (
  changes: readonly Change[],
  fits: Sized,
): readonly (readonly Change[])[] => {
  const created = new Map(
    changes
      .filter(({ kind }) => kind === "create")
      .map((change) => [`${change.of === "segment" ? "segment" : "flag"} ${change.key}`, change]),
  );
  const addWithNamed = (change: Change, part: Set<Change>, visited: Set<Change>): void => {
    if (visited.has(change)) return;
    visited.add(change);
    for (const name of namedIn(change)) {
      const other = created.get(name);
      if (other !== undefined) addWithNamed(other, part, visited);
    }
    part.add(change);
  };
  const parts: Set<Change>[] = [];
  for (const change of changes) {
    const last = parts.at(-1);
    if (last?.has(change)) continue;
    const grown = new Set(last);
    addWithNamed(change, grown, new Set());
    if (last !== undefined && fits([...grown])) parts.splice(-1, 1, grown);
    else {
      const next = new Set<Change>();
      addWithNamed(change, next, new Set());
      parts.push(next);
    }
  }
  return parts.map((part) => [...part]);
};
