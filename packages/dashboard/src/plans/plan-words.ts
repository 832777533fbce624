// How many flags and segments a plan changes, in words.
import type { Change } from "@halyard/core/plan/plan";
import { formatNumber } from "../format.ts";

/** "1 flag", "2 segments". */
export const countOf = (count: number, name: string): string =>
  `${formatNumber(count)} ${name}${count === 1 ? "" : "s"}`;

/** "2 flags and 1 segment". */
export const whatOf = (changes: readonly Change[]): string => {
  const segments = changes.filter((change) => change.of === "segment").length;
  const flags = changes.length - segments;
  return [
    ...(flags > 0 || segments === 0 ? [countOf(flags, "flag")] : []),
    ...(segments > 0 ? [countOf(segments, "segment")] : []),
  ].join(" and ");
};

const afterwards = { create: "created", update: "changed", delete: "deleted" };
const beforehand: typeof afterwards = {
  create: "to create",
  update: "to change",
  delete: "to delete",
};

const counted = (changes: readonly Change[], words: typeof afterwards): string =>
  Object.entries(words)
    .map(([kind, word]) => [changes.filter((change) => change.kind === kind).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${formatNumber(count)} ${word}`)
    .join(", ");

/** "2 created, 1 changed". */
export const countsOf = (changes: readonly Change[]): string => counted(changes, afterwards);
/** "2 to create, 1 to change". */
export const plannedOf = (changes: readonly Change[]): string => counted(changes, beforehand);
