// A history entry: when, who, what, before and after. And the log of the events that changes have made.
import type { ExportedPart } from "@halyard/core/history/chain";
import { type Kind, kindNames } from "@halyard/core/kinds";
import type { Actor, Review } from "../platform/auth/principal.ts";

export const historySubjects: readonly HistorySubject[] = [
  ...kindNames,
  "webhook",
  "key",
  "user",
  "environment",
  "change-request",
];
export type HistorySubject = Kind | "webhook" | "key" | "user" | "environment" | "change-request";

export interface HistoryEntry {
  readonly id: number;
  readonly subject: HistorySubject;
  readonly subjectId: string;
  /** The flag's version after the change; null for what has no versions. */
  readonly version: number | null;
  /** The revision of the environment that the change made; null for what makes none. */
  readonly revision: number | null;
  readonly at: Date;
  readonly actor: Actor;
  /** Why, when whoever made the change said so. */
  readonly reason?: string | undefined;
  /** How it came into a protected environment. */
  readonly review?: Review | undefined;
  readonly actions: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
  /** The chain of the environment's history at this entry; null until the next change chains it. */
  readonly chain: string | null;
}

export type NewHistoryEntry = Omit<HistoryEntry, "id" | "revision" | "chain">;

export interface HistoryQuery {
  readonly subject?: HistorySubject;
  readonly subjectId?: string;
  /** Only deletions. */
  readonly deleted?: true;
  /** Only by whoever has this name or this key id. */
  readonly actor?: string;
  /** Only from then on. */
  readonly since?: Date;
  /** Only up to then. */
  readonly until?: Date;
  readonly limit: number;
  /** Only entries older than this one, which may be gone. */
  readonly before?: HistoryPlace | undefined;
}

/** Where in the history an entry is. */
export type HistoryPlace = Pick<HistoryEntry, "id" | "at">;

/** The fields that a search checks. The states of segments are left out: they can have 25 MB. */
export type SearchedEntry = Pick<
  HistoryEntry,
  "id" | "at" | "subject" | "subjectId" | "actor" | "reason" | "before" | "after"
>;

/** A part of a history as it is verified, bounded in entries and in bytes. */
export interface ChainPart {
  readonly environment: string;
  readonly parts: readonly ExportedPart[];
  /** The number after which the next part begins; undefined at the end. */
  readonly next: number | undefined;
  /** The chain that the environment keeps, read together with the last part. */
  readonly head: string;
}

export interface HistoryPage<Entry = HistoryEntry> {
  readonly entries: readonly Entry[];
  /** How many there are within the limit: more than the entries when the page ended early. */
  readonly found: number;
  /** The last entry that a search checked before it stopped; undefined at the end of the history. */
  readonly searchedTo?: HistoryPlace | undefined;
}

/** What a redaction did in one environment, by the numbers of the entries. */
export interface RedactedEntries {
  readonly environment: string;
  readonly redacted: readonly number[];
  /** Those that do not say what their digest was made of: they are left as they are. */
  readonly refused: readonly number[];
}

/** An event of the environment's sequence, as receivers get it. */
export interface LoggedEvent {
  readonly sequence: number;
  readonly body: Uint8Array;
}

export interface EventLogQuery {
  readonly limit: number;
  /** Only events with a higher number. */
  readonly after?: number;
  /** Only events since the first of this time. */
  readonly since?: Date;
}

export interface EventLogPage {
  readonly events: readonly LoggedEvent[];
  /** Whether there are later events. */
  readonly hasMore: boolean;
}

/** One change of one thing, as history has it. */
export interface PastChange {
  readonly version: number;
  readonly before: unknown;
  readonly after: unknown;
}

/** The first change of a thing after a revision: it found the thing as it was at that revision. */
export interface FirstChange {
  readonly key: string;
  readonly version: number;
  /** Null when it was made. */
  readonly before: unknown;
  /** Of `before`; undefined for the first level, and when history does not say. */
  readonly level?: number;
}
