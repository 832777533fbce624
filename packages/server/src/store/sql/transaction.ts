// The writes of ports.ts in SQL. Everything here runs inside one open transaction.
import type { Flag } from "@halyard/core/flags/registry";
import { toStored } from "@halyard/core/flags/stored";
import type { Change } from "../../domain/change.ts";
import type { NewHistoryEntry } from "../../domain/history.ts";
import type { Transaction } from "../../ports.ts";
import { queue } from "../outbox/queue.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { historyRow } from "../schema/history-row.ts";
import type { Database } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { removalWrites } from "./delete-environment.ts";
import { deliveryReads } from "./delivery-log.ts";
import { environmentColumns, environmentOf, readsToChange } from "./reader.ts";
import { replayWrites } from "./replays.ts";
import { insertSignInLink, sessionWrites, takeSignInLink } from "./sign-in.ts";
import { webhookWrites } from "./webhooks.ts";

const flagColumns = (flag: Flag, version: number, level: number | undefined) => {
  const stored = toStored(flag);
  return { ...stored, enabled: stored.enabled ? 1 : 0, version, level: level ?? null };
};

const historyOfChange = ({ decision, at, actor, events }: Change): NewHistoryEntry => ({
  subject: decision.kind,
  subjectId: decision.key,
  version: decision.version,
  at,
  actor,
  actions: events.map(({ type }) => type),
  before: decision.before,
  after: decision.after,
});

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

/** Collects what listeners learn after the commit. */
export interface SignalDraft {
  /** Webhooks with new deliveries, and webhooks that were changed. */
  readonly queued: Set<string>;
  readonly changed: Set<string>;
  readonly changes: Change[];
  readonly revokedKeys: string[];
}

export const createTransaction = (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
  signal: SignalDraft,
): Transaction => {
  const writeFlag = async ({ environmentId, decision }: Change): Promise<void> => {
    const { key, before, after, version, level } = decision;
    if (after === null) {
      await database
        .deleteFrom("flags")
        .where("environment_id", "=", environmentId)
        .where("key", "=", key)
        .execute();
      await database
        .deleteFrom("usage")
        .where("environment_id", "=", environmentId)
        .where("flag_key", "=", key)
        .execute();
    } else if (before === null) {
      await database
        .insertInto("flags")
        .values({ environment_id: environmentId, key, ...flagColumns(after, version, level) })
        .execute();
    } else {
      await database
        .updateTable("flags")
        .set(flagColumns(after, version, level))
        .where("environment_id", "=", environmentId)
        .where("key", "=", key)
        .execute();
    }
  };

  const countKeyChange = async (environmentId: number): Promise<void> => {
    await database
      .updateTable("environments")
      .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
      .where("id", "=", environmentId)
      .execute();
    await traits.notify(database);
  };

  return {
    // A delivery worker may deactivate a webhook at any time, but not while it is being changed here.
    ...readsToChange(database, traits.locked),
    ...deliveryReads(database),

    alone: () => traits.alone(database),

    lockEnvironment: (environmentId) =>
      database
        .selectFrom("environments")
        .select(["id", "name", "revision", "sequence", "flag_count as flagCount"])
        .where("id", "=", environmentId)
        .$call(traits.locked)
        .executeTakeFirst(),

    async lastVersion(environmentId, key) {
      const row = await database
        .selectFrom("history")
        .select("version")
        .where("environment_id", "=", environmentId)
        .where("subject", "=", "flag")
        .where("subject_id", "=", key)
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirst();
      return row?.version ?? 0;
    },

    async commit(change, deliveries) {
      const { environmentId, revision, sequence, flagCount, at, events, decision } = change;
      await writeFlag(change);
      await database
        .updateTable("environments")
        .set({ revision, sequence, flag_count: flagCount })
        .where("id", "=", environmentId)
        .execute();
      await database
        .insertInto("history")
        .values(historyRow(environmentId, historyOfChange(change), revision, decision.level))
        .execute();
      await database
        .insertInto("events")
        .values(
          events.map((event) => ({
            environment_id: environmentId,
            sequence: event.sequence,
            id: event.id,
            type: event.type,
            flag_key: decision.key,
            created_at: at.getTime(),
            body: event.body,
          })),
        )
        .execute();
      await queue(database, deliveries, "event", at, signal.queued);
      await traits.notify(database);
      signal.changes.push(change);
    },

    queue: (deliveries, kind, at) => queue(database, deliveries, kind, at, signal.queued),

    ...webhookWrites(database, traits, secrets, signal.changed),
    ...replayWrites(database),
    insertSignInLink: (link, now) => insertSignInLink(database, link, now),
    takeSignInLink: (hash, now) => takeSignInLink(database, hash, now),
    ...sessionWrites(database),

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

    async insertEnvironment(name, at) {
      const row = await database
        .insertInto("environments")
        .values({ name, revision: 0, sequence: 0, flag_count: 0, created_at: at.getTime() })
        .returning(environmentColumns)
        .executeTakeFirstOrThrow();
      await traits.notify(database);
      return environmentOf(row);
    },

    ...removalWrites(database, traits, signal.revokedKeys),

    async record(environmentId, entry) {
      await database
        .insertInto("history")
        .values(historyRow(environmentId, entry, null))
        .execute();
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
