// Validation errors of a definition, each with its place.

export interface ValidationError {
  /** Such as `rules[2].when.all[0].values`. */
  readonly place: string;
  /** Completes a sentence that starts with the place. */
  readonly message: string;
}

/** Stops after this number, because further errors don't help and cost time. */
const most = 20;

/** Collects errors. `isFull` says when to stop looking. */
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

/** Adds an error for each field that is not allowed. */
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
        `is not a known field; use ${allowed.join(", ")}`,
      );
    }
  }
};
