// The lines of the audit log that a transaction collects.
import type { Change } from "../../writes/change.ts";
import type { NewHistoryEntry } from "../../writes/history-entry.ts";
import type { AuditLine } from "../telemetry/audit-line.ts";
import type { SignalDraft } from "./db.ts";
import type { Transaction } from "./store.ts";
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

/** Adds the audit lines of writes that have no history entry. */
export const audited = (transaction: Transaction, signal: SignalDraft) => {
  const addUser = (action: string, id: string): void => {
    signal.audit.push({ actions: [`user.${action}`], subject: "user", id });
  };
  const overrides: Partial<Transaction> = {
    insertUser(user, at) {
      addUser("created", user.id);
      return transaction.insertUser(user, at);
    },
    updateUser(id, change, at) {
      const { signedInAt: _, ...rest } = change;
      if (Object.keys(rest).length > 0) addUser("updated", id);
      return transaction.updateUser(id, change, at);
    },
    deleteUser(id) {
      addUser("deleted", id);
      return transaction.deleteUser(id);
    },
    linkAccounts(one, other) {
      for (const id of [one, other]) addUser("linked", id);
      return transaction.linkAccounts(one, other);
    },
    unlinkAccount(id) {
      addUser("unlinked", id);
      return transaction.unlinkAccount(id);
    },
    insertSignInLink(link, now) {
      if (link.userId !== null) addUser("invited", link.userId);
      return transaction.insertSignInLink(link, now);
    },
    async insertEnvironment(name, ...rest) {
      const environment = await transaction.insertEnvironment(name, ...rest);
      signal.environmentNames.set(environment.id, name);
      return environment;
    },
    async closeEnvironment(environment, at, actor) {
      const { id: environmentId, name: id } = environment;
      const actions = ["environment.deleted"];
      signal.audit.push({ actions, environmentId, subject: "environment", id, actor });
      await transaction.closeEnvironment(environment, at, actor);
    },
  };
  return overrides;
};
