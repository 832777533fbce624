// Converts the flags that an importer has read: with the same meaning, or skipped with the reason.

import { newFlag } from "@halyard/core/flags/change";
import type { Flag } from "@halyard/core/flags/registry";
import { isFlagKey, maxDescriptionLength } from "@halyard/core/flags/rules";
import { byKey } from "@halyard/core/plan/by-key";
import type { Segment } from "@halyard/core/targeting/segment";
import { offOf, renameVariants, variantNames } from "./rename.ts";
import { suggestKey } from "./translate/names.ts";
import type { Draft } from "./translate/outline.ts";

/** A flag that an importer has read. */
export interface Found {
  readonly name: string;
  readonly description: string | undefined;
  /** The equivalent in Halyard; an approximation if there are reasons. */
  readonly draft: Draft;
  /** An on/off flag as a rollout of 0% or 100%. */
  readonly asRollout?: Draft | undefined;
  /** Why Halyard has no equivalent. */
  readonly reasons: readonly string[];
  /** Differences that users should know about if the flag is imported. */
  readonly notes?: readonly string[];
  /** Fewer users get a value other than off than in the other product. */
  readonly isNarrower?: boolean;
  /** Never imported. */
  readonly archived?: boolean;
}

export interface LeftOut {
  readonly name: string;
  readonly reasons: readonly string[];
  /** A valid key, if the name is not valid. */
  readonly suggestedKey?: string;
}

export interface Counts {
  /** Flags with exactly the same meaning. */
  readonly whole: number;
  readonly withNotes: number;
  readonly leftOut: number;
  readonly segments: number;
}

export interface Converted {
  readonly flags: readonly Flag[];
  readonly segments: readonly Segment[];
  /** The keys of the flags that have no notes. */
  readonly whole: readonly string[];
  readonly notes: readonly { readonly key: string; readonly note: string }[];
  readonly leftOut: readonly LeftOut[];
  readonly counts: Counts;
  /** Flags imported turned off, because Halyard has no equivalent. */
  readonly createOnly: ReadonlySet<string>;
  /** The keys of all flags in the file, which `prune` must not delete. */
  readonly keep: ReadonlySet<string>;
}

export interface ConvertOptions {
  readonly lossy?: boolean;
  readonly renameInvalid?: boolean;
}

const keyFor = (name: string): string => (isFlagKey(name) ? name : suggestKey(name));

/** The flag without targeting, off for everyone, which is always valid. */
const shellOf = (draft: Draft): Draft => {
  const { type, off = null } = draft;
  const { rules: _, requires: __, bucketBy: ___, bucketSeed: ____, ...plain } = draft;
  if (type === "variant") return { ...plain, enabled: false, otherwise: off };
  return { type, enabled: false, ...(type === "rollout" && { percentage: 0 }) };
};

type Made = { readonly flag: Flag } | { readonly mistake: string };

const make = (key: string, description: string | undefined, draft: Draft): Made => {
  const { enabled, ...members } = draft;
  const text = Array.from(description ?? "")
    .slice(0, maxDescriptionLength)
    .join("");
  const made = newFlag({ key, ...members, description: text === "" ? null : text });
  if (made.ok) return { flag: { ...made.flag, enabled } };
  const [first] = made.errors;
  return { mistake: `is not valid in Halyard: ${first?.place} ${first?.message}` };
};

interface Candidate {
  readonly found: Found;
  readonly key: string;
  readonly draft: Draft;
  /** Problems with the name, which apply even with `lossy`. */
  readonly nameReasons: readonly string[];
  readonly reasons: string[];
}

/** Skips flags whose prerequisites are skipped or have a different meaning. */
const checkRequirements = (candidates: readonly Candidate[]): void => {
  const byName = new Map(candidates.map((candidate) => [candidate.found.name, candidate]));
  const isBad = ({ found, nameReasons, reasons }: Candidate) =>
    found.archived === true || nameReasons.length + reasons.length > 0;
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const candidate of candidates) {
      if (isBad(candidate)) continue;
      for (const { flag, variant } of candidate.found.draft.requires ?? []) {
        const required = byName.get(flag);
        if (required === undefined)
          candidate.reasons.push(`requires ${flag}, which is not in the file`);
        else if (isBad(required)) candidate.reasons.push(`requires ${flag}, which is not imported`);
        else if (!variantNames(required.found.draft).includes(variant)) {
          candidate.reasons.push(
            `requires the variant ${variant} of ${flag}, which does not exist`,
          );
        } else if (required.found.isNarrower && variant === offOf(required.found.draft)) {
          candidate.reasons.push(
            `requires ${flag} to be off, which is the case for more users here`,
          );
        } else continue;
        hasChanged = true;
      }
    }
  }
};

/** A flag is not exact if a prerequisite isn't. */
const noteRequired = ({ found }: Candidate, all: readonly Candidate[]): string[] => {
  const isNoted = (name: string, seen: readonly string[]): boolean => {
    const required = all.find(({ found: other }) => other.name === name)?.found;
    if (required === undefined || seen.includes(name)) return false;
    const others = required.draft.requires ?? [];
    return (
      (required.notes ?? []).length > 0 || others.some(({ flag }) => isNoted(flag, [...seen, name]))
    );
  };
  return (found.draft.requires ?? [])
    .filter(({ flag }) => isNoted(flag, []))
    .map(({ flag }) => `requires ${flag}, whose notes apply here too`);
};

export const convert = (
  found: readonly Found[],
  segments: readonly Segment[],
  { lossy = false, renameInvalid = false }: ConvertOptions,
): Converted => {
  const claims = new Map<string, string[]>();
  for (const { name } of found) {
    const key = keyFor(name);
    claims.set(key, [...(claims.get(key) ?? []), name]);
  }
  const drafts = new Map(found.map(({ name, draft }) => [name, draft]));

  const candidates = found.map((one): Candidate => {
    const { name } = one;
    const key = keyFor(name);
    const sameKey = claims.get(key) ?? [];
    const others = sameKey.filter((other) => other !== name);
    const isDuplicate = sameKey.length - others.length > 1;
    const draft = renameVariants(one.draft, drafts, keyFor);
    const wrongNames = variantNames(one.draft).filter((variant) => !isFlagKey(variant));
    const nameReasons = [
      ...(isDuplicate ? ["is in the file twice"] : []),
      ...(key !== name && !renameInvalid ? ["the name is not allowed in Halyard"] : []),
      ...(wrongNames.length > 0 && !renameInvalid
        ? [`has variants with names that are not allowed in Halyard (${wrongNames.join(", ")})`]
        : []),
      ...(key !== name && others.length > 0 && !isDuplicate
        ? [`as "${key}", it would collide with ${others.map((other) => `"${other}"`).join(", ")}`]
        : []),
    ];
    const made = one.reasons.length > 0 ? undefined : make(key, one.description, draft);
    const reasons = [...one.reasons, ...(made && "mistake" in made ? [made.mistake] : [])];
    return { found: one, key, draft, nameReasons, reasons };
  });
  checkRequirements(candidates);

  const flags: Flag[] = [];
  const whole: string[] = [];
  const allNotes: { key: string; note: string }[] = [];
  const leftOut: LeftOut[] = [];
  const createOnly = new Set<string>();
  for (const candidate of candidates) {
    const { found: one, key, draft, nameReasons, reasons } = candidate;
    const { name, description, archived = false, notes = [] } = one;
    const own = [...notes, ...noteRequired(candidate, candidates)];
    const isRenamed = key !== name;
    const isLossy = reasons.length > 0;
    const made = make(key, description, isLossy ? shellOf(draft) : draft);
    if (archived || nameReasons.length > 0 || (isLossy && !lossy) || "mistake" in made) {
      const isAlone = claims.get(key)?.length === 1 && !archived;
      const all = archived ? one.reasons : [...reasons, ...nameReasons];
      leftOut.push({ name, reasons: all, ...(isRenamed && isAlone && { suggestedKey: key }) });
      continue;
    }
    flags.push(made.flag);
    if (isLossy) createOnly.add(key);
    const isCut = Array.from(description ?? "").length > maxDescriptionLength;
    const now = variantNames(draft);
    const renamed = variantNames(one.draft).flatMap((before, index) =>
      before === now[index] ? [] : [`its variant "${before}" is now "${now[index] ?? ""}"`],
    );
    const texts = [
      ...(isRenamed ? [`was "${name}"`] : []),
      ...renamed,
      ...(isCut ? ["its description is shortened to 2,000 characters"] : []),
      ...(isLossy ? [`turned off, because it ${reasons.join("; ")}`] : own),
    ];
    if (texts.length === 0) whole.push(key);
    allNotes.push(...texts.map((note) => ({ key, note })));
  }
  return {
    flags: flags.sort(byKey),
    segments: segments.toSorted(byKey),
    whole: whole.sort(),
    notes: allNotes,
    leftOut,
    counts: {
      whole: whole.length,
      withNotes: flags.length - whole.length,
      leftOut: leftOut.length,
      segments: segments.length,
    },
    createOnly,
    keep: new Set(found.map(({ name }) => keyFor(name))),
  };
};
