// Valid names for what other products name freely.
import { isFlagKey, longestFlagKey } from "@halyard/core/flags/rules";

/** The nearest valid key. */
export const suggestKey = (name: string, fallback = "flag"): string => {
  const key = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, longestFlagKey)
    .replace(/-+$/, "");
  return key === "" ? fallback : key;
};

/** One that is not taken yet. */
export const freeKey = (wanted: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const ending = `-${number}`;
    const key = `${wanted.slice(0, longestFlagKey - ending.length)}${ending}`;
    if (!taken.has(key)) return key;
  }
};

/** Different valid keys for names that need not be either. */
export const keysFor = (names: readonly string[], fallback: string): string[] => {
  // A valid name is not taken by one that merely becomes it.
  const taken = new Set<string>();
  const valid = names.map((name) => {
    if (!isFlagKey(name) || taken.has(name)) return undefined;
    taken.add(name);
    return name;
  });
  return names.map((name, index) => {
    const kept = valid[index];
    if (kept !== undefined) return kept;
    const key = freeKey(suggestKey(name, `${fallback}-${index + 1}`), taken);
    taken.add(key);
    return key;
  });
};

/** Rules without a name get `rule-N`. */
export const ruleIds = (names: readonly (string | undefined)[]): string[] =>
  keysFor(
    names.map((name, index) => name ?? `rule-${index + 1}`),
    "rule",
  );
