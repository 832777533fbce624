// One thing that the doctor has looked at: how it is, and how to mend it when it is not well.

export type Level = "ok" | "warn" | "fail";

export interface Check {
  readonly level: Level;
  /** What was looked at: settings, node, store, secret key, clock, callbacks, keys, server. */
  readonly about: string;
  readonly message: string;
  /** What to do; null when all is well. */
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

/** The troubles, or that there are none. */
export const orFine = (troubles: readonly Check[], about: string, message: string): Check[] =>
  troubles.length > 0 ? [...troubles] : [ok(about, message)];

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Such as "3 hours". */
export const lengthOf = (milliseconds: number): string => {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 60) return counted(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
};

export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
