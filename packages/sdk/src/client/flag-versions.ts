// The versions of the flags of an environment, for telemetry.
import type { FlagMetadata } from "../details.ts";
import type {
  EnvironmentChange,
  EnvironmentSnapshot,
} from "../environment-stream/environment-events.ts";

export interface FlagVersions {
  change(change: EnvironmentChange): void;
  metadataOf(key: string): FlagMetadata | undefined;
}

/** Without a snapshot, such as from a cache, no versions are known; a bootstrap may lack them too. */
export const createVersions = (snapshot: EnvironmentSnapshot | undefined): FlagVersions => {
  const versions = new Map<string, number>();
  for (const { kind, key, version } of snapshot?.entries ?? []) {
    if (kind === "flag") versions.set(key, version);
  }
  return {
    change({ kind, key, value, version }) {
      if (kind !== "flag") return;
      if (value === null) versions.delete(key);
      else versions.set(key, version);
    },
    metadataOf(key) {
      const version: unknown = versions.get(key);
      const flagSetId: unknown = snapshot?.environment;
      return typeof version === "number" && typeof flagSetId === "string"
        ? { version: String(version), flagSetId }
        : undefined;
    },
  };
};
