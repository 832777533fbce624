// Times in bodies and queries.
import { Type } from "typebox";

/** A day, or a time with its zone: without one it would mean another moment on each server. */
const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

export const momentRule = "a time such as 2026-11-14T12:00:00Z";

export const moment = (description: string) =>
  Type.String({
    maxLength: 40,
    description,
    "x-must-be": momentRule,
    examples: ["2026-11-14T12:00:00Z"],
  });

/** Undefined when it is none. */
export const readMoment = (text: string): Date | undefined => {
  const time = pattern.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
};
