// An environment as JSON, for streams and for those who poll. Made once for each revision; everyone shares its bytes.
import { kinds } from "@halyard/core/kinds";
import type { Revision } from "../../domain/change.ts";
import type { Snapshot } from "../../evaluation/snapshot.ts";

const entryOf = (member: string, version: number, value: unknown, level: number | undefined) => ({
  version,
  [member]: value,
  // Absent for the first level.
  ...(level !== undefined && { level }),
});

const made = new WeakMap<Snapshot, { readonly name: string; readonly bytes: Buffer }>();

export const snapshotJson = (snapshot: Snapshot): Buffer => {
  const kept = made.get(snapshot);
  if (kept?.name === snapshot.name) return kept.bytes;
  const { environmentName, revision, changedAt } = snapshot;
  const content = {
    environment: environmentName,
    revision,
    at: changedAt,
    [kinds.flag.list]: snapshot
      .all()
      .map(({ version, flag, level }) => entryOf(kinds.flag.member, version, flag, level)),
  };
  const bytes = Buffer.from(JSON.stringify(content));
  made.set(snapshot, { name: snapshot.name, bytes });
  return bytes;
};

export const revisionJson = ({
  revision,
  at,
  kind,
  key,
  version,
  value,
  level,
}: Revision): string =>
  JSON.stringify({ revision, at, key, ...entryOf(kinds[kind].member, version, value, level) });
