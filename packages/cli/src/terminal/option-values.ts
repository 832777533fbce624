// Parses values of the command line, with messages for invalid ones.
import { isPercentage } from "@halyard/core/percentage";
import { InvalidArgumentError } from "commander";

/** Accepts `25`, `25%` and `25 %`. */
export const percentage = (text: string): number => {
  const [, digits] = /^(\d+(?:\.\d+)?) ?%?$/.exec(text) ?? [];
  const value = digits === undefined ? Number.NaN : Number(digits);
  if (isPercentage(value)) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 100 with at most three decimals.");
};

export const wholeNumber =
  (smallest: number, largest: number = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= smallest && value <= largest) return value;
    throw new InvalidArgumentError(
      largest === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number, ${smallest} or more.`
        : `It must be a whole number from ${smallest} to ${largest}.`,
    );
  };

const unitLengths = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds from a duration such as 30m, 2h or 7d. */
const durationOf = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return unit === undefined
    ? undefined
    : Number(count) * unitLengths[unit as keyof typeof unitLengths];
};

/** A time with a zone, or a day. */
const timeOf = (text: string): Date | undefined => {
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? new Date(text)
    : undefined;
  return time && !Number.isNaN(time.getTime()) ? time : undefined;
};

/** A time, or an age. */
export const moment = (text: string): Date => {
  const ago = durationOf(text);
  const time = ago === undefined ? timeOf(text) : new Date(Date.now() - ago);
  if (time) return time;
  throw new InvalidArgumentError(
    "It must be a time such as 2026-11-14T12:00:00Z, or an age such as 30m, 2h or 7d.",
  );
};

/** A time, or a duration from now. */
export const futureMoment = (text: string): Date => {
  const ahead = durationOf(text);
  const time = ahead === undefined ? timeOf(text) : new Date(Date.now() + ahead);
  if (time && time.getTime() > Date.now()) return time;
  throw new InvalidArgumentError(
    "It must be a time in the future such as 2027-11-14T12:00:00Z, or a duration such as 12h or 90d.",
  );
};

export const trueOrFalse = (text: string): boolean => {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError("It must be true or false.");
};

export type Settings = Readonly<Record<string, unknown>>;

/** Collects `field=value`. The value is JSON, or else text. */
export const setting = (text: string, before: Settings = {}): Settings => {
  const [, member, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
  if (member === undefined || value === undefined) {
    throw new InvalidArgumentError("It must be field=value, such as percentage=25.");
  }
  return { ...before, [member]: jsonOrText(value) };
};

/** A JSON object. */
export const jsonObject = (text: string): Readonly<Record<string, unknown>> => {
  const value = jsonOrText(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"country":"CA"}'.`);
};

export interface NamedValue {
  readonly name: string;
  readonly text: string;
}

/** Collects `name=value`. */
export const namedValue = (text: string, before: readonly NamedValue[] = []): NamedValue[] => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("It must be name=value.");
  }
  if (before.some((each) => each.name === name)) {
    throw new InvalidArgumentError(`"${name}" already has a value.`);
  }
  return [...before, { name, text: value }];
};

/** Collects texts. */
export const texts = (text: string, before: readonly string[] = []): string[] => [...before, text];

export const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
