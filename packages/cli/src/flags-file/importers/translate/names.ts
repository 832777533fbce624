// Valid keys for names of other products, which are less restricted.
import { isFlagKey, longestFlagKey } from "@halyard/core/flags/rules";
import { type Fields, textOf } from "../../loose-values.ts";

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

/** Adds a number if the key is taken. */
export const freeKey = (wanted: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) {
    const ending = `-${number}`;
    const key = `${wanted.slice(0, longestFlagKey - ending.length)}${ending}`;
    if (!taken.has(key)) return key;
  }
};

/** A valid, distinct key for each name. */
export const keysFor = (names: readonly string[], fallback: string): string[] => {
  // A name that is already valid keeps its key.
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

/** Rules without a name get the id `rule-N`. */
export const ruleIds = (names: readonly (string | undefined)[]): string[] =>
  keysFor(
    names.map((name, index) => name ?? `rule-${index + 1}`),
    "rule",
  );

/** The description, or else the title if it differs from the name. */
export const descriptionOf = (fields: Fields, name: string): string | undefined => {
  const title = textOf(fields.name);
  return textOf(fields.description) ?? (title === name ? undefined : title);
};

/** Drops tags that Halyard doesn't accept. */
export const tagsOf = (tags: readonly unknown[]): string[] =>
  [...new Set(tags.flatMap((tag) => textOf(tag) ?? []))]
    .filter((tag) => tag.length <= 64)
    .slice(0, 20);
