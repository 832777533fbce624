// A history entry as it is stored, with its place in the chain of its environment.
import { type ChainContent, chainAfter, digestOf, textDigest } from "@halyard/core/history/chain";
import { sha256 } from "../platform/text-hash.ts";
import type { NewHistoryEntry } from "./history-entry.ts";

/** The texts are what the database keeps, byte for byte. */
export interface StoredEntry
  extends Omit<ChainContent, "environment" | "beforeDigest" | "afterDigest"> {
  readonly before: string | null;
  readonly after: string | null;
}

export interface ChainedEntry extends StoredEntry {
  readonly digest: string;
  readonly chain: string;
}

/** What an entry is chained to. */
export interface ChainHead {
  /** Of the environment. */
  readonly name: string;
  readonly chain: string;
}

/** Of changes that make a revision of the environment. */
interface Made {
  readonly revision?: number;
  readonly level?: number | undefined;
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const storedEntry = (entry: NewHistoryEntry, { revision, level }: Made): StoredEntry => ({
  revision: revision ?? null,
  subject: entry.subject,
  // Half of a surrogate pair is stored as another character.
  subjectId: entry.subjectId.toWellFormed(),
  version: entry.version,
  at: entry.at.getTime(),
  actorKeyId: entry.actor.keyId,
  actorName: entry.actor.name.toWellFormed(),
  actorUserId: entry.actor.user?.id ?? null,
  actorUserName: entry.actor.user?.name.toWellFormed() ?? null,
  reason: entry.reason?.toWellFormed() ?? null,
  review: entry.review ? JSON.stringify(entry.review) : null,
  actions: JSON.stringify(entry.actions),
  level: level ?? null,
  before: json(entry.before),
  after: json(entry.after),
});

export const contentDigest = (entry: StoredEntry, environment: string): string => {
  const beforeDigest = textDigest(entry.before, sha256);
  const afterDigest = textDigest(entry.after, sha256);
  return digestOf({ ...entry, environment, beforeDigest, afterDigest }, sha256);
};

/** An entry that is stored already, in its place after the head. */
export const chainStored = <Entry extends StoredEntry>(
  { name, chain }: ChainHead,
  entry: Entry,
): Entry & ChainedEntry => {
  const digest = contentDigest(entry, name);
  return { ...entry, digest, chain: chainAfter(chain, digest, sha256) };
};

export const chainEntry = (
  head: ChainHead,
  entry: NewHistoryEntry,
  made: Made = {},
): ChainedEntry => chainStored(head, storedEntry(entry, made));
