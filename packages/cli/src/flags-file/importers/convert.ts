// Converts flags of another product: exactly, or skipped with the reason.
import { initialOf } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { isFlagKey, longestFlagKey, maxDescriptionLength } from "@halyard/core/flags/rules";
import { byKey } from "../flags-file.ts";

export type State =
  | { readonly type: "boolean"; readonly enabled: boolean }
  | { readonly type: "rollout"; readonly enabled: boolean; readonly percentage: number };

/** A flag as an importer read it. */
export interface Found {
  readonly name: string;
  readonly description: string | undefined;
  /** In Halyard; an approximation if there are reasons. */
  readonly state: State;
  /** Why Halyard has no exact equivalent. */
  readonly reasons: readonly string[];
  /** What users should know about a flag that is imported. */
  readonly notes?: readonly string[];
  /** Never imported. */
  readonly archived?: boolean;
}

export interface LeftOut {
  readonly name: string;
  readonly reasons: readonly string[];
  /** A valid key, if the name is not one. */
  readonly suggestedKey?: string;
}

export interface Converted {
  readonly flags: readonly Flag[];
  readonly notes: readonly { readonly key: string; readonly note: string }[];
  readonly leftOut: readonly LeftOut[];
  /** Imported turned off, because Halyard has no exact equivalent. */
  readonly createOnly: ReadonlySet<string>;
  /** Every name in the file, so that `prune` deletes none of them. */
  readonly keep: ReadonlySet<string>;
}

export interface ConvertOptions {
  readonly lossy?: boolean;
  readonly renameInvalid?: boolean;
}

/** The nearest valid key. */
export const suggestKey = (name: string): string => {
  const key = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, longestFlagKey)
    .replace(/-+$/, "");
  return key === "" ? "flag" : key;
};

export const convert = (
  found: readonly Found[],
  { lossy = false, renameInvalid = false }: ConvertOptions,
): Converted => {
  const flags: Flag[] = [];
  const notes: { key: string; note: string }[] = [];
  const leftOut: LeftOut[] = [];
  const createOnly = new Set<string>();
  const keep = new Set<string>();
  const keyFor = (name: string) => (isFlagKey(name) ? name : suggestKey(name));
  const claims = new Map<string, string[]>();
  for (const { name } of found) {
    const key = keyFor(name);
    claims.set(key, [...(claims.get(key) ?? []), name]);
  }

  for (const { name, description, state, reasons, notes: own = [], archived } of found) {
    const key = keyFor(name);
    keep.add(key);
    if (archived) {
      leftOut.push({ name, reasons });
      continue;
    }
    const sameKey = claims.get(key) ?? [];
    const isDuplicate = sameKey.filter((other) => other === name).length > 1;
    const isRenamed = key !== name;
    const nameReasons = [
      ...(isDuplicate ? ["is in the file twice"] : []),
      ...(isRenamed && !renameInvalid ? [`the name is not allowed in Halyard`] : []),
      ...(isRenamed && sameKey.length > 1 && !isDuplicate
        ? [
            `as "${key}" it would collide with ${sameKey
              .filter((other) => other !== name)
              .map((other) => `"${other}"`)
              .join(", ")}`,
          ]
        : []),
    ];
    if (nameReasons.length > 0 || (reasons.length > 0 && !lossy)) {
      leftOut.push({
        name,
        reasons: [...reasons, ...nameReasons],
        ...(isRenamed && sameKey.length === 1 && { suggestedKey: key }),
      });
      continue;
    }
    const letters = Array.from(description ?? "");
    const isCut = letters.length > maxDescriptionLength;
    flags.push({
      key,
      ...(reasons.length > 0 ? initialOf({ key, ...state }) : state),
      description: letters.length === 0 ? null : letters.slice(0, maxDescriptionLength).join(""),
    });
    if (reasons.length > 0) createOnly.add(key);
    const texts = [
      ...(isRenamed ? [`was "${name}"`] : []),
      ...(isCut ? ["its description is cut to 2,000 characters"] : []),
      ...(reasons.length > 0 ? [`turned off, because it ${reasons.join("; ")}`] : own),
    ];
    notes.push(...texts.map((note) => ({ key, note })));
  }
  return { flags: flags.sort(byKey), notes, leftOut, createOnly, keep };
};
