// Parses the JSON of snapshots and changes. Skips kinds that this version does not know.
import {
  type Kind,
  type KindValues,
  kindNames,
  kinds,
  type SnapshotValues,
} from "@halyard/core/kinds";

interface EntryOf<K extends Kind, Value> {
  readonly kind: K;
  readonly key: string;
  readonly version: number;
  /** A newer server may send types and fields that this version does not know. */
  readonly value: Value;
  /** Absent for the first level; see `isKnownLevel` of the core. */
  readonly level?: number;
}

export type EnvironmentEntry = { readonly [K in Kind]: EntryOf<K, SnapshotValues[K]> }[Kind];

export interface EnvironmentSnapshot {
  readonly environment: string;
  readonly revision: number;
  /** When the last change was made; null before the first. */
  readonly at: string | null;
  readonly entries: readonly EnvironmentEntry[];
}

/** The value is null after a deletion. */
export type EnvironmentChange = {
  readonly [K in Kind]: EntryOf<K, KindValues[K] | null>;
}[Kind] & {
  readonly revision: number;
  readonly at: string;
};

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const withLevel = ({ level }: Fields) => level !== undefined && { level };

const entriesOf = (kind: Kind, list: unknown): readonly EnvironmentEntry[] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item) => {
    if (!isObject(item)) return [];
    const value = item[kinds[kind].member];
    if (!isObject(value) || typeof value.key !== "string") return [];
    const entry = { kind, key: value.key, version: item.version, value, ...withLevel(item) };
    return [entry as unknown as EnvironmentEntry];
  });

export const isSnapshot = (json: unknown): json is Fields =>
  isObject(json) && Array.isArray(json[kinds.flag.list]);

/** Undefined when it is not a snapshot. */
export const parseSnapshot = (json: unknown): EnvironmentSnapshot | undefined => {
  if (!isSnapshot(json)) return undefined;
  const { environment, revision, at } = json as unknown as EnvironmentSnapshot;
  const entries = kindNames.flatMap((kind) => entriesOf(kind, json[kinds[kind].list]));
  return { environment, revision, at, entries };
};

/** The kind whose changes have this event name; undefined when this version knows none. */
export const kindOfEvent = (name: string): Kind | undefined =>
  kindNames.find((kind) => kinds[kind].event === name);

/** Undefined when it is not a change. */
export const parseChange = (kind: Kind, json: unknown): EnvironmentChange | undefined => {
  if (!isObject(json) || typeof json.key !== "string") return undefined;
  const { key, version, revision, at } = json;
  const value = json[kinds[kind].member];
  if (value !== null && (!isObject(value) || value.key !== key)) return undefined;
  const change = { kind, key, version, value, revision, at, ...withLevel(json) };
  return change as unknown as EnvironmentChange;
};
