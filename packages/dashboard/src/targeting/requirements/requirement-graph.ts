// Which flags a flag requires, directly and through others, and which require it.
import type { Flag } from "@halyard/core/flags/registry";
import type { Requirement } from "@halyard/core/targeting/targeting";
import type { LiveFlag } from "../../live.ts";

type ByKey = ReadonlyMap<string, LiveFlag>;

export interface GraphNode {
  readonly key: string;
  /** Left of the flag are those that require it, right of it those that it requires. */
  readonly column: number;
  readonly row: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly variant: string;
}

export interface RequirementGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Flags that require it and are not drawn. */
  readonly left: number;
}

/** As the server allows it; also ends a circle of two changes at once. */
const deepest = 5;
const mostDrawn = 50;
const mostRequiring = 8;

export const requirementsOf = (byKey: ByKey, key: string): readonly Requirement[] =>
  byKey.get(key)?.flag.requires ?? [];

/** Those that name the flag in their own requirements. */
export const requiring = (flags: readonly LiveFlag[], key: string): readonly GraphEdge[] =>
  flags.flatMap(({ flag }) =>
    (flag.requires ?? [])
      .filter((each) => each.flag === key)
      .map(({ variant }) => ({ from: flag.key, to: key, variant })),
  );

/** The names of what a flag can give. */
export const variantsOf = (flag: Flag | undefined): readonly string[] => {
  if (flag === undefined) return [];
  return flag.type === "variant" ? Object.keys(flag.variants) : ["on", "off"];
};

export const graphOf = (
  byKey: ByKey,
  flags: readonly LiveFlag[],
  key: string,
  requires: readonly Requirement[],
): RequirementGraph => {
  const columns = new Map([[key, 0]]);
  const edges: GraphEdge[] = [];
  const below = (from: string, list: readonly Requirement[], depth: number) => {
    for (const { flag: to, variant } of list) {
      if (to === key || edges.length >= mostDrawn) continue;
      if (!edges.some((edge) => edge.from === from && edge.to === to)) {
        edges.push({ from, to, variant });
      }
      // A flag stands right of all that require it.
      if ((columns.get(to) ?? 0) < depth) columns.set(to, depth);
      if (depth < deepest) below(to, requirementsOf(byKey, to), depth + 1);
    }
  };
  below(key, requires, 1);
  const above = requiring(flags, key);
  const drawn = above.slice(0, mostRequiring);
  for (const { from } of drawn) if (!columns.has(from)) columns.set(from, -1);
  const rows = new Map<number, number>();
  const nodes = [...columns].map(([each, column]) => {
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { key: each, column, row };
  });
  return { nodes, edges: [...drawn, ...edges], left: above.length - drawn.length };
};
