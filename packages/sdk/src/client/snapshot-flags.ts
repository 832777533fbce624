// Reads the flags and segments of a snapshot.
import type { Flag } from "@halyard/core/flags/registry";
import type { Segment } from "@halyard/core/targeting/segment";
import type { EnvironmentSnapshot } from "../environment-stream/environment-events.ts";
import type { CachedFlags } from "./flag-cache.ts";
import type { LeveledFlag } from "./flag-table.ts";

export const withLevel = (flag: Flag, level: number | undefined): LeveledFlag =>
  level === undefined ? flag : { ...flag, level };

export const flagsOf = ({ entries }: EnvironmentSnapshot): readonly LeveledFlag[] =>
  entries.flatMap(({ kind, value, level }) => (kind === "flag" ? [withLevel(value, level)] : []));

export const segmentsOf = ({ entries }: EnvironmentSnapshot): readonly Segment[] =>
  entries.flatMap(({ kind, value }) => (kind === "segment" ? [value] : []));

/** The flags and segments of a `bootstrap`: a snapshot, or a list of flags. */
export const contentOf = (
  bootstrap: unknown,
  snapshot: EnvironmentSnapshot | undefined,
): CachedFlags =>
  snapshot === undefined
    ? { flags: Array.isArray(bootstrap) ? bootstrap : [], segments: [] }
    : { flags: flagsOf(snapshot), segments: segmentsOf(snapshot) };
