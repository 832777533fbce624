// Semantic versions (SemVer 2.0) and their order. Build metadata is ignored.

export interface Version {
  /** Major, minor and patch: digits without leading zeros, of any length. */
  readonly numbers: readonly string[];
  /** Empty for a release. */
  readonly prerelease: readonly string[];
}

const isNumber = (text: string): boolean => /^(0|[1-9]\d*)$/.test(text);
const areIdentifiers = (text: string): boolean => /^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$/.test(text);
const hasLeadingZero = (text: string): boolean => /(^|\.)0\d+(\.|$)/.test(text);
const isDigits = (text: string): boolean => /^\d+$/.test(text);

/** Splits at the first separator: the part before it, and the part after it if present. */
const cut = (text: string, at: string): readonly [string, string | undefined] => {
  const place = text.indexOf(at);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
};

/** Removes a leading v, and completes `1` and `1.2` with zeros if nothing follows. Undefined if the text is not a version. */
export const parseVersion = (text: string): Version | undefined => {
  const [beforeBuild, build] = cut(text.replace(/^[vV]/, ""), "+");
  const [core, suffix] = cut(beforeBuild, "-");
  const numbers = core.split(".", 4);
  if (numbers.length > 3 || !numbers.every(isNumber)) return undefined;
  if (numbers.length < 3 && (suffix !== undefined || build !== undefined)) return undefined;
  if (build !== undefined && !areIdentifiers(build)) return undefined;
  if (suffix !== undefined && (!areIdentifiers(suffix) || hasLeadingZero(suffix))) return undefined;
  const prerelease = suffix === undefined ? [] : suffix.split(".");
  while (numbers.length < 3) numbers.push("0");
  return { numbers, prerelease };
};

/** Compares digits without leading zeros, of any length. */
const compareDigits = (one: string, other: string): number =>
  one.length - other.length || (one < other ? -1 : Number(one > other));

const compareIdentifiers = (one: string, other: string): number => {
  const isOneNumber = isDigits(one);
  if (isOneNumber !== isDigits(other)) return isOneNumber ? -1 : 1;
  if (isOneNumber) return compareDigits(one, other);
  return one < other ? -1 : Number(one > other);
};

/** Negative if the first version is older. */
export const compareVersions = (one: Version, other: Version): number => {
  for (let index = 0; index < 3; index += 1) {
    const order = compareDigits(one.numbers[index] ?? "0", other.numbers[index] ?? "0");
    if (order !== 0) return order;
  }
  if (one.prerelease.length === 0 || other.prerelease.length === 0) {
    return other.prerelease.length - one.prerelease.length;
  }
  const shorter = Math.min(one.prerelease.length, other.prerelease.length);
  for (let index = 0; index < shorter; index += 1) {
    const order = compareIdentifiers(one.prerelease[index] ?? "", other.prerelease[index] ?? "");
    if (order !== 0) return order;
  }
  return one.prerelease.length - other.prerelease.length;
};
