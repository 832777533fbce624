// The audit log: one line for every change, written once its transaction is committed.
import { operator, type Requester, whoIs } from "../auth/principal.ts";
import type { Replica } from "../database/replica.ts";
import type { Commit, Position, Store } from "../database/store.ts";
import {
  listEnvironments,
  listRemovedEnvironments,
  listUnfinishedEnvironments,
} from "../environments.ts";
import type { AuditLine } from "./audit-line.ts";

export interface AuditLog {
  info(fields: object, message: string): void;
}

export interface Audit {
  /** Changes by name, such as flag.updated. */
  readonly changes: ReadonlyMap<string, number>;
  /** Writes a line for every commit of the store, and for environments that an operator's command deleted. */
  follow(store: Store): Replica;
}

const deleted = "environment.deleted";

/** The ids of all environments, including copies that are not finished. */
const idsOf = async (store: Store): Promise<ReadonlySet<number>> => {
  // In this order: a copy that finishes in between is in both lists.
  const lists = [await listUnfinishedEnvironments(store), await listEnvironments(store)];
  return new Set(lists.flat().map(({ id }) => id));
};

export const createAudit = (log: AuditLog): Audit => {
  const changes = new Map<string, number>();
  const environmentNames = new Map<number, string>();
  /** Environments whose deletion this process has begun and logged. */
  const removedHere = new Set<number>();

  const write = (
    { actions, environmentId, actor, ...line }: AuditLine,
    requester?: Requester,
  ): void => {
    for (const action of actions) changes.set(action, (changes.get(action) ?? 0) + 1);
    const origin = requester?.requestOrigin;
    const who = actor ?? requester?.actor;
    log.info(
      {
        audit: actions.join(" "),
        ...(environmentId !== undefined && {
          environment: environmentNames.get(environmentId) ?? environmentId,
        }),
        ...line,
        ...(who && whoIs(who)),
        ...(origin && { reqId: origin.requestId, address: origin.address }),
      },
      "changed",
    );
  };

  const writeCommit = (commit: Commit): void => {
    for (const [id, name] of commit.environmentNames) environmentNames.set(id, name);
    for (const line of commit.audit) {
      const { environmentId } = line;
      if (environmentId !== undefined && line.actions.includes(deleted)) {
        // Deletion continues in parts: only its first commit is logged.
        if (removedHere.has(environmentId)) continue;
        removedHere.add(environmentId);
      }
      write(line, commit.requester);
    }
  };

  /** Logs environments that disappeared without a commit of a server. */
  const writeDisappeared = async (store: Store, positions: readonly Position[]): Promise<void> => {
    const present = new Set(positions.map(({ environmentId }) => environmentId));
    const missing = [...environmentNames].filter(
      ([id]) => !present.has(id) && !removedHere.has(id),
    );
    const existing = missing.length > 0 ? await idsOf(store) : new Set();
    const gone = missing.filter(([id]) => !existing.has(id));
    const removed = gone.length > 0 ? await listRemovedEnvironments(store) : [];
    for (const [environmentId, name] of gone) {
      // The operator's command writes no audit log; every other server logs its own deletions.
      const by = removed.find((each) => each.name === name)?.actor ?? operator;
      if (by.name !== operator.name || by.keyId !== null) continue;
      write({
        ...{ actions: [deleted], subject: "environment", id: name },
        ...{ actor: operator, environmentId },
      });
    }
    environmentNames.clear();
    for (const { environmentId, name } of positions) environmentNames.set(environmentId, name);
  };

  return {
    changes,
    follow(store) {
      store.onCommit(async (commit) => writeCommit(commit));
      return {
        beginPoll: () => (positions) => writeDisappeared(store, positions),
        apply: () => true,
      };
    },
  };
};
