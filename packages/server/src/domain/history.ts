// What history tells of one change: when, who, what, before and after.
import type { Actor } from "./principal.ts";

export const historySubjects = ["flag", "webhook", "key"] as const;
export type HistorySubject = (typeof historySubjects)[number];

export interface HistoryEntry {
  readonly id: number;
  readonly subject: HistorySubject;
  readonly subjectId: string;
  /** The flag's version after the change; null for what has no versions. */
  readonly version: number | null;
  readonly at: Date;
  readonly actor: Actor;
  readonly actions: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

export type NewHistoryEntry = Omit<HistoryEntry, "id">;
