// The writes of ports.ts in SQL. Everything here runs inside one open transaction.
import { chainAfter } from "@halyard/core/history/chain";
import type { Change, VersionedFlag } from "../../domain/change.ts";
import type { ChainHead } from "../../domain/history/chained-entry.ts";
import type { NewDelivery } from "../../domain/webhooks/webhook.ts";
import type { Locked, Transaction } from "../../ports.ts";
import { sha256 } from "../../text-hash.ts";
import { copyWrites } from "../environments/copy.ts";
import { lockEnvironment } from "../environments/lock.ts";
import { storedPercent } from "../environments/percent.ts";
import { environmentWrites } from "../environments/rows.ts";
import { type QueuedDelivery, queue } from "../outbox/queue.ts";
import { changeRequestWrites } from "../people/change-requests.ts";
import { credentialReads, credentialWrites } from "../people/credentials.ts";
import { sessionWrites, signInLinkWrites } from "../people/sessions.ts";
import { userWrites } from "../people/users.ts";
import { appendEntry, lockHead } from "../schema/chain.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import type { Database } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { removalWrites } from "./delete-environment.ts";
import { deliveryReads } from "./delivery-log.ts";
import { readFlagsAhead, readsToChange } from "./reader.ts";
import { replayWrites } from "./replays.ts";
import { webhookWrites } from "./webhooks.ts";
import { writeChange } from "./write-change.ts";

/** Idempotency records that a key may have; beyond it the oldest are forgotten before their day is over. */
const maxRecords = 20_000;
const forgetEvery = 100;
let saved = 0;

const forgetOldest = async (database: Database, keyId: string): Promise<void> => {
  saved += 1;
  // Finding the oldest costs more than saving one.
  if (saved % forgetEvery > 0) return;
  const own = database.selectFrom("answers").where("key_id", "=", keyId);
  const [oldest] = await own
    .select("expires_at")
    .orderBy("expires_at", "desc")
    .limit(1)
    .offset(maxRecords)
    .execute();
  if (!oldest) return;
  await database
    .deleteFrom("answers")
    .where("key_id", "=", keyId)
    .where("expires_at", "<=", oldest.expires_at)
    .execute();
};

interface LockedAhead extends Locked {
  /** Those that were read with the lock, and are still so; undefined for those that are not there. */
  readonly flags: Map<string, VersionedFlag | undefined>;
}

/** Collects what listeners learn after the commit. */
export interface SignalDraft {
  /** Webhooks with new deliveries, and webhooks that were changed. */
  readonly queued: Set<string>;
  readonly changed: Set<string>;
  /** Written at the end of the transaction, so that queues are locked in their order whatever the order of changes. */
  readonly deliveries: QueuedDelivery[];
  readonly changes: Change[];
  /** Environments as their last change has left them, for the next work of the same transaction. */
  readonly locked: Map<number, LockedAhead>;
  readonly revokedKeys: string[];
  accessChanged: boolean;
}

export const createTransaction = (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
  signal: SignalDraft,
  /** Flags that are read together when an environment is locked, for this work and those after it. */
  expected: readonly string[],
  before?: Map<number, LockedAhead>,
): Transaction => {
  const countKeyChange = async (environmentId: number): Promise<void> => {
    await database
      .updateTable("environments")
      .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
      .where("id", "=", environmentId)
      .execute();
    await traits.notify(database);
  };

  /** Of the environments that are locked here. */
  const heads = new Map<number, ChainHead>();
  const locked = new Map<number, Promise<LockedAhead | undefined>>();

  const checkChain = ({ state, entry }: Change): void => {
    const head = heads.get(state.id);
    if (head && entry.chain === chainAfter(head.chain, entry.digest, sha256)) return;
    throw new Error("A change does not follow the last entry of its history.");
  };

  const queueAtEnd = (deliveries: readonly NewDelivery[], at: Date): void => {
    for (const delivery of deliveries) {
      signal.deliveries.push({ ...delivery, kind: "event", at });
      signal.queued.add(delivery.webhookId);
    }
  };

  // A delivery worker may deactivate a webhook at any time, but not while it is being changed here.
  const reads = readsToChange(database, traits.locked);

  const lockAhead = async (environmentId: number): Promise<LockedAhead | undefined> => {
    const [found, flags] = await Promise.all([
      lockEnvironment(database, traits, environmentId),
      readFlagsAhead(database, traits, environmentId, expected),
    ]);
    return found && { ...found, flags };
  };

  return {
    ...reads,
    ...deliveryReads(database),

    alone: () => traits.alone(database),

    async lockEnvironment(environmentId) {
      const known = before?.get(environmentId);
      before?.delete(environmentId);
      const locking = known ? Promise.resolve(known) : lockAhead(environmentId);
      locked.set(environmentId, locking);
      const found = await locking;
      if (found) heads.set(environmentId, found.state);
      return found;
    },

    async flag(environmentId, key) {
      const locking = locked.get(environmentId);
      const ahead = locking && (await locking)?.flags;
      return ahead?.has(key) ? ahead.get(key) : reads.flag(environmentId, key);
    },

    async lastVersion(environmentId, kind, key) {
      const row = await database
        .selectFrom("history")
        .select("version")
        .where("environment_id", "=", environmentId)
        .where("subject", "=", kind)
        .where("subject_id", "=", key)
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirst();
      return row?.version ?? 0;
    },

    async commit(change, deliveries) {
      checkChain(change);
      heads.set(change.state.id, change.state);
      await writeChange(database, traits, change);
      queueAtEnd(deliveries, change.at);
      signal.changes.push(change);
      const { state, decision } = change;
      const found = await locked.get(state.id);
      if (!found) return;
      found.flags.delete(decision.key);
      signal.locked.set(state.id, { ...found, state });
    },

    async queue(deliveries, kind, at) {
      const queued = deliveries.map((delivery) => ({ ...delivery, kind, at }));
      await queue(database, traits, queued);
      for (const { webhookId } of deliveries) signal.queued.add(webhookId);
    },

    ...webhookWrites(database, traits, secrets, signal.changed),
    ...replayWrites(database),
    ...signInLinkWrites(database),
    ...sessionWrites(database),
    ...userWrites(database, traits, signal),
    ...changeRequestWrites(database, traits, signal, queueAtEnd),
    ...credentialReads(database, secrets, traits.locked),
    ...credentialWrites(database, traits, secrets),

    async insertKey(key) {
      await database
        .insertInto("api_keys")
        .values({
          id: key.id,
          environment_id: key.environmentId,
          name: key.name,
          role: key.role,
          hash: key.hash,
          created_at: key.createdAt.getTime(),
          revoked_at: null,
          expires_at: key.expiresAt?.getTime() ?? null,
          origins: key.origins && JSON.stringify(key.origins),
          given: key.isGiven ? 1 : 0,
          user_id: key.user?.id ?? null,
          writes_directly: key.writesDirectly ? 1 : 0,
          max_flips: storedPercent(key.maxFlips),
          created_by: key.createdBy,
        })
        .execute();
      await countKeyChange(key.environmentId);
    },

    async revokeKey(environmentId, id, at, kept) {
      await database
        .updateTable("api_keys")
        .set({ revoked_at: at.getTime() })
        .where("environment_id", "=", environmentId)
        .where("id", "=", id)
        .execute();
      const revoked = database
        .selectFrom("api_keys")
        .where("environment_id", "=", environmentId)
        .where("revoked_at", "is not", null)
        .where("given", "=", 0);
      const [oldest] = await revoked
        .select("revoked_at")
        .orderBy("revoked_at", "desc")
        .limit(1)
        .offset(kept)
        .execute();
      if (oldest) {
        await database
          .deleteFrom("api_keys")
          .where("id", "in", revoked.select("id").where("revoked_at", "<=", oldest.revoked_at))
          .execute();
      }
      await countKeyChange(environmentId);
      signal.revokedKeys.push(id);
    },

    async keyIssuedIn(hash) {
      const row = await database
        .selectFrom("api_keys")
        .select(["environment_id", "revoked_at"])
        .where("hash", "=", hash)
        .executeTakeFirst();
      return row && { environmentId: row.environment_id, revoked: row.revoked_at !== null };
    },

    ...environmentWrites(database, traits),
    ...copyWrites(database, traits),
    ...removalWrites(database, traits, signal.revokedKeys),

    async record(environmentId, entry) {
      const head = heads.get(environmentId) ?? (await lockHead(database, traits, environmentId));
      if (!head) throw new Error(`There is no environment ${environmentId}.`);
      const after = await appendEntry(database, environmentId, head, entry);
      heads.set(environmentId, after);
      signal.locked.delete(environmentId);
      return after.chain;
    },

    async idempotencyRecord(keyId, name, now) {
      return database
        .selectFrom("answers")
        .select(["fingerprint", "sealed"])
        .where("key_id", "=", keyId)
        .where("name", "=", name)
        .where("expires_at", ">", now.getTime())
        .executeTakeFirst();
    },

    async saveIdempotencyRecord(keyId, name, answer, until, now) {
      await database.deleteFrom("answers").where("expires_at", "<=", now.getTime()).execute();
      await forgetOldest(database, keyId);
      await database
        .insertInto("answers")
        .values({ key_id: keyId, name, ...answer, expires_at: until.getTime() })
        .execute();
    },
  };
};
