// What is wrong with a definition that somebody wants to save, and where.

export interface ValidationError {
  /** Such as `rules[2].when.all[0].values`. */
  readonly place: string;
  /** Follows the place in a sentence. */
  readonly message: string;
}

/** More are not of use to anyone, and looking for them costs time. */
const most = 20;

/** Collects errors; `isFull` tells when to stop looking. */
export interface ValidationErrors {
  readonly found: readonly ValidationError[];
  readonly isFull: () => boolean;
  add(place: string, message: string): void;
}

export const collectErrors = (): ValidationErrors => {
  const found: ValidationError[] = [];
  return {
    found,
    isFull: () => found.length >= most,
    add(place, message) {
      if (found.length < most) found.push({ place, message });
    },
  };
};

export type Members = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const longestName = 100;
const shortened = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName)}…` : name;

/** Adds a mistake for each member that is not among those allowed. */
export const refuseOthers = (
  members: Members,
  allowed: readonly string[],
  place: string,
  errors: ValidationErrors,
): void => {
  for (const name of Object.keys(members)) {
    if (errors.isFull()) return;
    if (!allowed.includes(name)) {
      errors.add(
        place === "" ? shortened(name) : `${place}.${shortened(name)}`,
        `is not known here; known are ${allowed.join(", ")}`,
      );
    }
  }
};
