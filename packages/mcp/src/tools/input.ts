// Input fields that several tools share.
import { z } from "zod";

export const past = {
  at: z
    .string()
    .max(40)
    .optional()
    .describe("The state at this time, in ISO 8601 such as 2026-11-16T14:00:00Z"),
  revision: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("The state at this revision of the environment; history shows revisions"),
};

/** Leaves out undefined fields. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

export const page = (standard: number) => ({
  limit: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(standard)
    .describe("The maximum number of results"),
  cursor: z
    .string()
    .max(1_000)
    .optional()
    .describe("`next` from the previous result, to continue the list"),
});
