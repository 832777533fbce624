// What several tools take.
import { z } from "zod";

export const past = {
  at: z
    .string()
    .max(40)
    .optional()
    .describe("As it was at this time, ISO 8601 such as 2026-11-16T14:00:00Z"),
  revision: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("As it was at this revision of the environment, as history tells it"),
};

/** Absent members stay absent. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

export const page = (standard: number) => ({
  limit: z.number().int().min(1).max(100).default(standard).describe("How many at most"),
  cursor: z.string().max(1_000).optional().describe("`next` of the answer before, for more"),
});
