// The reads of ports.ts in SQL, outside a transaction or inside one.
import { type Flag, fromThousandths } from "@halyard/core/flag";
import type { Kysely, Selectable } from "kysely";
import type { VersionedFlag } from "../domain/change.ts";
import type { HistoryEntry, HistorySubject } from "../domain/history.ts";
import type { Role } from "../domain/principal.ts";
import type { Webhook } from "../domain/webhook.ts";
import type { Environment, Reader } from "../ports.ts";
import { deliveryReads } from "./sql-delivery-log.ts";
import type { Tables } from "./tables.ts";

type FlagRow = Omit<Selectable<Tables["flags"]>, "environment_id">;

const flagOf = (row: FlagRow): VersionedFlag => {
  const { key, description } = row;
  const enabled = row.enabled === 1;
  const flag: Flag =
    row.thousandths === null
      ? { key, type: "boolean", enabled, description }
      : {
          key,
          type: "rollout",
          enabled,
          percentage: fromThousandths(row.thousandths),
          description,
        };
  return { flag, version: row.version };
};

const webhookOf = (
  row: Pick<Selectable<Tables["webhooks"]>, (typeof webhookColumns)[number]>,
): Webhook => ({
  id: row.id,
  url: row.url,
  events: JSON.parse(row.events) as string[],
  active: row.active === 1,
  createdAt: new Date(row.created_at),
});

const historyOf = (row: Selectable<Tables["history"]>): HistoryEntry => ({
  id: row.id,
  subject: row.subject as HistorySubject,
  subjectId: row.subject_id,
  version: row.version,
  at: new Date(row.at),
  actor: { keyId: row.actor_key_id, name: row.actor_name },
  actions: JSON.parse(row.actions) as string[],
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
});

export const environmentOf = (row: Selectable<Tables["environments"]>): Environment => ({
  id: row.id,
  name: row.name,
  createdAt: new Date(row.created_at),
  flagCount: row.flag_count,
});

const flagColumns = ["key", "type", "enabled", "thousandths", "description", "version"] as const;
const webhookColumns = ["id", "environment_id", "url", "events", "active", "created_at"] as const;

export const createReader = (database: Kysely<Tables>): Reader => {
  const webhooks = (environmentId: number) =>
    database
      .selectFrom("webhooks")
      .select(webhookColumns)
      .where("environment_id", "=", environmentId);

  return {
    ...deliveryReads(database),

    async environments() {
      const rows = await database.selectFrom("environments").selectAll().orderBy("name").execute();
      return rows.map(environmentOf);
    },

    async revision(environmentId) {
      const row = await database
        .selectFrom("environments")
        .select("revision")
        .where("id", "=", environmentId)
        .executeTakeFirst();
      return row?.revision ?? 0;
    },

    async flag(environmentId, key) {
      const row = await database
        .selectFrom("flags")
        .select(flagColumns)
        .where("environment_id", "=", environmentId)
        .where("key", "=", key)
        .executeTakeFirst();
      return row && flagOf(row);
    },

    async flags(environmentId) {
      // One statement, so that the revision and the flags are of the same moment.
      const rows = await database
        .selectFrom("environments")
        .leftJoin("flags", "flags.environment_id", "environments.id")
        .select([
          "environments.revision",
          "flags.key",
          "flags.type",
          "flags.enabled",
          "flags.thousandths",
          "flags.description",
          "flags.version",
        ])
        .where("environments.id", "=", environmentId)
        .execute();
      const flags = rows
        .filter((row): row is typeof row & FlagRow => row.key !== null)
        .map(flagOf)
        // Keys are ASCII, and the order is the same on every database.
        .sort((a, b) => (a.flag.key < b.flag.key ? -1 : 1));
      return { revision: rows[0]?.revision ?? 0, flags };
    },

    async webhooks(environmentId) {
      const rows = await webhooks(environmentId).orderBy("created_at").orderBy("id").execute();
      return rows.map(webhookOf);
    },

    async webhook(environmentId, id) {
      const row = await webhooks(environmentId).where("id", "=", id).executeTakeFirst();
      return row && webhookOf(row);
    },

    async keys(environmentId) {
      const rows = await database
        .selectFrom("api_keys")
        .select(["id", "name", "role", "created_at"])
        .where("environment_id", "=", environmentId)
        .where("revoked_at", "is", null)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(({ created_at, role, ...key }) => ({
        ...key,
        role: role as Role,
        createdAt: new Date(created_at),
      }));
    },

    async principal(hash) {
      const row = await database
        .selectFrom("api_keys")
        .innerJoin("environments", "environments.id", "api_keys.environment_id")
        .select([
          "api_keys.id",
          "api_keys.name",
          "api_keys.role",
          "api_keys.hash",
          "api_keys.environment_id",
          "environments.name as environment_name",
        ])
        .where("api_keys.hash", "=", hash)
        .where("api_keys.revoked_at", "is", null)
        .executeTakeFirst();
      return (
        row && {
          hash: row.hash,
          principal: {
            keyId: row.id,
            keyName: row.name,
            role: row.role as Role,
            environmentId: row.environment_id,
            environmentName: row.environment_name,
          },
        }
      );
    },

    async history(environmentId, { subject, subjectId, limit, before }) {
      const rows = await database
        .selectFrom("history")
        .selectAll()
        .where("environment_id", "=", environmentId)
        .$if(subject !== undefined, (query) => query.where("subject", "=", subject ?? ""))
        .$if(subject !== undefined && subject !== "flag", (query) =>
          query.where("revision", "is", null),
        )
        .$if(subjectId !== undefined, (query) => query.where("subject_id", "=", subjectId ?? ""))
        .$if(before !== undefined, (query) => query.where("id", "<", before ?? 0))
        .orderBy("id", "desc")
        .limit(limit)
        .execute();
      return rows.map(historyOf);
    },
  };
};
