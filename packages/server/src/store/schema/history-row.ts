// A history entry as a row.
import type { NewHistoryEntry } from "../../domain/history.ts";

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** `revision` and `level` belong to changes that make a revision of the environment. */
export const historyRow = (
  environmentId: number,
  entry: NewHistoryEntry,
  revision: number | null,
  level?: number,
) => ({
  environment_id: environmentId,
  revision,
  subject: entry.subject,
  subject_id: entry.subjectId,
  version: entry.version,
  at: entry.at.getTime(),
  actor_key_id: entry.actor.keyId,
  actor_name: entry.actor.name,
  actor_user_id: entry.actor.user?.id ?? null,
  actor_user_name: entry.actor.user?.name ?? null,
  reason: entry.reason ?? null,
  actions: JSON.stringify(entry.actions),
  before: json(entry.before),
  after: json(entry.after),
  level: level ?? null,
  review: entry.review ? JSON.stringify(entry.review) : null,
});
