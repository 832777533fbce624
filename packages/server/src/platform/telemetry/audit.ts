// The audit trail: one line for every change, written once it is committed.
import type { Change } from "../../writes/change.ts";
import type { NewHistoryEntry } from "../../writes/history-entry.ts";
import { type Actor, operator, type Requester, type Review, whoIs } from "../auth/principal.ts";
import type { Store, Transaction } from "../database/store.ts";

export interface AuditLog {
  info(fields: object, message: string): void;
}

export interface Audit {
  /** Changes by name, such as flag.updated. */
  readonly changes: ReadonlyMap<string, number>;
  readonly store: (store: Store) => Store;
}

interface Line {
  readonly actions: readonly string[];
  /** Undefined for what concerns no environment, or all of them. */
  readonly environmentId?: number;
  readonly subject: string;
  readonly id: string;
  readonly actor?: Actor;
  readonly reason?: string;
  readonly changeRequest?: Review["changeRequest"];
  readonly bypass?: Review["bypass"];
  readonly version?: number;
  readonly sequence?: number;
  readonly deliveries?: number;
}

const deleted = "environment.deleted";

const ofChange = ({ state, decision, events, actor, reason, review }: Change): Line => ({
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

const ofEntry = (environmentId: number, entry: NewHistoryEntry): Line => ({
  actions: entry.actions,
  environmentId,
  subject: entry.subject,
  id: entry.subjectId,
  actor: entry.actor,
  ...(entry.reason !== undefined && { reason: entry.reason }),
  ...entry.review,
});

/** Of all environments, also of a copy that is not finished. */
const idsOf = async (store: Store): Promise<ReadonlySet<number>> => {
  // In this order: a copy that is finished meanwhile is in both.
  const lists = [await store.unfinishedEnvironments(), await store.environments()];
  return new Set(lists.flat().map(({ id }) => id));
};

export const createAudit = (log: AuditLog): Audit => {
  const changes = new Map<string, number>();
  const environmentNames = new Map<number, string>();
  /** Environments whose removal this process has begun, and told. */
  const removedHere = new Set<number | undefined>();

  const write = ({ actions, environmentId, actor, ...line }: Line, requester?: Requester): void => {
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

  /** The same transaction; its changes are collected, and the environments that it makes. */
  const collecting = (
    transaction: Transaction,
    lines: Line[],
    made: Map<number, string>,
    isAsked: boolean,
  ): Transaction => {
    let environmentId = 0;
    const tellUser = (action: string, id: string): void => {
      lines.push({ actions: [`user.${action}`], subject: "user", id });
    };
    return {
      ...transaction,
      insertUser(user, at) {
        tellUser("created", user.id);
        return transaction.insertUser(user, at);
      },
      updateUser(id, change, at) {
        const { signedInAt: _, ...rest } = change;
        if (Object.keys(rest).length > 0) tellUser("updated", id);
        return transaction.updateUser(id, change, at);
      },
      deleteUser(id) {
        tellUser("deleted", id);
        return transaction.deleteUser(id);
      },
      linkAccounts(one, other) {
        for (const id of [one, other]) tellUser("linked", id);
        return transaction.linkAccounts(one, other);
      },
      unlinkAccount(id) {
        tellUser("unlinked", id);
        return transaction.unlinkAccount(id);
      },
      insertSignInLink(link, now) {
        if (link.userId !== null) tellUser("invited", link.userId);
        return transaction.insertSignInLink(link, now);
      },
      async lockEnvironment(id) {
        const locked = await transaction.lockEnvironment(id);
        environmentId = id;
        if (locked) environmentNames.set(id, locked.state.name);
        return locked;
      },
      async insertEnvironment(name, ...rest) {
        const environment = await transaction.insertEnvironment(name, ...rest);
        made.set(environment.id, name);
        return environment;
      },
      async closeEnvironment(environment, at, actor) {
        const { id: environmentId, name: id } = environment;
        lines.push({ actions: [deleted], environmentId, subject: "environment", id, actor });
        await transaction.closeEnvironment(environment, at, actor);
      },
      commit(change, deliveries) {
        lines.push(ofChange(change));
        return transaction.commit(change, deliveries);
      },
      record(id, entry) {
        lines.push(ofEntry(id, entry));
        return transaction.record(id, entry);
      },
      queue(deliveries, kind, at) {
        const [first] = deliveries;
        // The parts of a replay that follow on their own were asked for with the first.
        if (first && kind !== "event" && isAsked) {
          lines.push({
            actions: [kind === "replay" ? "webhook.replayed" : "webhook.tested"],
            environmentId,
            subject: "webhook",
            id: first.webhookId,
            deliveries: deliveries.length,
          });
        }
        return transaction.queue(deliveries, kind, at);
      },
    };
  };

  return {
    changes,
    store: (store) => ({
      ...store,
      async positions() {
        const positions = await store.positions();
        const present = new Set(positions.map(({ environmentId }) => environmentId));
        const missing = [...environmentNames].filter(
          ([id]) => !present.has(id) && !removedHere.has(id),
        );
        const there = missing.length > 0 ? await idsOf(store) : new Set();
        const gone = missing.filter(([id]) => !there.has(id));
        const removed = gone.length > 0 ? await store.removedEnvironments() : [];
        for (const [environmentId, name] of gone) {
          // By the operator's command, which tells nobody; another instance tells what it removes.
          const by = removed.find((each) => each.name === name)?.actor ?? operator;
          if (by.name !== operator.name || by.keyId !== null) continue;
          const line = { actions: [deleted], subject: "environment", id: name, actor: operator };
          write({ ...line, environmentId });
        }
        environmentNames.clear();
        for (const { environmentId, name } of positions) environmentNames.set(environmentId, name);
        return positions;
      },
      async transact(work, options = {}) {
        const { requester } = options;
        let lines: Line[] = [];
        let made = new Map<number, string>();
        const result = await store.transact((transaction) => {
          // The work may be run again: the last run counts.
          lines = [];
          made = new Map();
          return work(collecting(transaction, lines, made, requester !== undefined));
        }, options);
        for (const [id, name] of made) environmentNames.set(id, name);
        for (const line of lines) {
          // What is continued was told when it began.
          const { environmentId = 0 } = line.actions.includes(deleted) ? line : {};
          if (!removedHere.has(environmentId)) write(line, requester);
          if (environmentId > 0) removedHere.add(environmentId);
        }
        return result;
      },
    }),
  };
};
