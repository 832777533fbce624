// The lines of the audit log that a transaction collects.
import type { Change } from "../../writes/change.ts";
import type { NewHistoryEntry } from "../../writes/history-entry.ts";
import type { AuditLine } from "../telemetry/audit-line.ts";

export const auditOfChange = ({
  state,
  decision,
  events,
  actor,
  reason,
  review,
}: Change): AuditLine => ({
  actions: events.map(({ type }) => type),
  environmentId: state.id,
  subject: decision.kind,
  id: decision.key,
  version: decision.version,
  sequence: state.sequence,
  actor,
  ...(reason !== undefined && { reason }),
  ...review,
});

export const auditOfEntry = (environmentId: number, entry: NewHistoryEntry): AuditLine => ({
  actions: entry.actions,
  environmentId,
  subject: entry.subject,
  id: entry.subjectId,
  actor: entry.actor,
  ...(entry.reason !== undefined && { reason: entry.reason }),
  ...entry.review,
});
