// One check of the doctor command: its result, and how to fix the problem.

export type Level = "ok" | "warn" | "fail";

export interface Check {
  readonly level: Level;
  /** The checked area: settings, node, database, secret key, clock, callbacks, keys or server. */
  readonly about: string;
  readonly message: string;
  /** How to fix the problem; null if there is none. */
  readonly remedy: string | null;
}

export const ok = (about: string, message: string): Check => ({
  level: "ok",
  about,
  message,
  remedy: null,
});
export const warn = (about: string, message: string, remedy: string): Check => ({
  level: "warn",
  about,
  message,
  remedy,
});
export const fail = (about: string, message: string, remedy: string): Check => ({
  level: "fail",
  about,
  message,
  remedy,
});

/** All problems, or one passed check if there are none. */
export const orOk = (problems: readonly Check[], about: string, message: string): Check[] =>
  problems.length > 0 ? [...problems] : [ok(about, message)];

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Such as "3 hours". */
export const durationText = (milliseconds: number): string => {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return counted(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
};

export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
