// The schema of an impact limit, in percent.

import { Type } from "typebox";

export const percentRule = "a number from 0 to 100 with at most three decimals";

/** Null for none. */
export const maxFlipsSchema = (description: string) =>
  Type.Unsafe<number | null>({
    type: ["number", "null"],
    minimum: 0,
    maximum: 100,
    description,
    "x-must-be": `${percentRule}, or null`,
  });
