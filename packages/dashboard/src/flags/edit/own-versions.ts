// The versions of flags that this page itself has made: a change in one section of a flag is no conflict for another section.

const own = new Set<string>();
const nameOf = (environment: string, key: string, version: number): string =>
  `${environment} ${key} ${version}`;

export const rememberOwn = (environment: string, key: string, version: number): void => {
  own.add(nameOf(environment, key, version));
};

/** Nobody else changed it from one version to the other. */
export const isAllOwn = (environment: string, key: string, from: number, to: number): boolean => {
  for (let version = from + 1; version <= to; version += 1) {
    if (!own.has(nameOf(environment, key, version))) return false;
  }
  return to >= from;
};
