// Reads one variable after the other, and keeps what is wrong with them.

export type Variables = Readonly<Record<string, string | undefined>>;

export interface SettingReader {
  /** The setting parsed by `read`, or the fallback. A value that cannot be parsed is a mistake. */
  readonly setting: <T>(
    name: string,
    fallback: T,
    rule: string,
    read: (text: string) => T | undefined,
  ) => T;
  /** A whole number in a range, of a unit when it has one. */
  readonly count: (
    name: string,
    fallback: number,
    from: number,
    to: number,
    unit?: string,
  ) => number;
}

export const whole = (from: number, to: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
};

/** Adds to the names that are known, and to the mistakes. */
export const createSettingReader = (
  variables: Variables,
  known: Set<string>,
  mistakes: string[],
): SettingReader => {
  const setting: SettingReader["setting"] = (name, fallback, rule, read) => {
    known.add(name);
    const text = variables[name]?.trim();
    if (text === undefined || text === "") return fallback;
    const value = read(text);
    if (value === undefined) mistakes.push(`${name} must be ${rule}.`);
    return value ?? fallback;
  };
  return {
    setting,
    count(name, fallback, from, to, unit = "") {
      const rule = `a whole number${unit && ` of ${unit}`} from ${from} to ${to}`;
      return setting(name, fallback, rule, whole(from, to));
    },
  };
};
