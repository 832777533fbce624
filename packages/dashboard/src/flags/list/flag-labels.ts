// The tags and owners that the flags have.
import type { LiveFlag } from "../../live.ts";

export interface KnownLabels {
  /** Sorted. */
  readonly tags: string[];
  readonly owners: string[];
}

export const labelsOf = (flags: readonly LiveFlag[]): KnownLabels => {
  const tags = new Set<string>();
  const owners = new Set<string>();
  for (const { flag } of flags) {
    for (const tag of flag.tags ?? []) tags.add(tag);
    if (flag.owner !== undefined) owners.add(flag.owner);
  }
  return { tags: [...tags].sort(), owners: [...owners].sort() };
};
