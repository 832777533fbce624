// A flag as stored in the database: the common fields and the percentage in columns, all others as JSON.
import { fromThousandths, isPercentage, thousandthsOf } from "../percentage.ts";
import { arrange } from "./arrange.ts";
import type { Flag } from "./registry.ts";

export interface StoredFlag {
  readonly type: string;
  readonly enabled: boolean;
  /** In thousandths of a percent; null for flags without a percentage. */
  readonly thousandths: number | null;
  readonly description: string | null;
  /** The other fields as JSON; null if there are none. */
  readonly definition: string | null;
}

const inColumns: readonly string[] = ["key", "type", "enabled", "description", "percentage"];

/** The fields without a column, as JSON; null if there are none. */
export const definitionOf = (flag: Flag): string | null => {
  const others = Object.entries(flag).filter(([name]) => !inColumns.includes(name));
  return others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : null;
};

export const toStored = (flag: Flag): StoredFlag => {
  const { type, enabled, description } = flag;
  const { percentage } = flag as { readonly percentage?: unknown };
  if (percentage !== undefined && !isPercentage(percentage)) {
    throw new Error(`The flag "${flag.key}" has a percentage that cannot be stored.`);
  }
  return {
    type,
    enabled,
    thousandths: percentage === undefined ? null : thousandthsOf(percentage),
    description,
    definition: definitionOf(flag),
  };
};

/** Keeps unknown fields. */
export const fromStored = (key: string, stored: StoredFlag): Flag => {
  const { type, enabled, thousandths, description, definition } = stored;
  return arrange({
    key,
    type,
    enabled,
    description,
    ...(thousandths !== null && { percentage: fromThousandths(thousandths) }),
    ...(definition !== null && (JSON.parse(definition) as object)),
  });
};
