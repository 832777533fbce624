// The reads of ports.ts that instances follow: the position of each environment, its revisions, its keys.
import type { Kysely } from "kysely";
import type { Revision } from "../../domain/change.ts";
import type { Role } from "../../domain/principal.ts";
import type { KeyHolder, Reader } from "../../ports.ts";
import type { Tables } from "../schema/tables.ts";

type FollowReads = Pick<Reader, "positions" | "changesAfter" | "keyHolders">;

export const followReads = (database: Kysely<Tables>): FollowReads => {
  const holders = () =>
    database
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
      .where("api_keys.revoked_at", "is", null);
  type HolderRow = Awaited<ReturnType<ReturnType<typeof holders>["execute"]>>[number];

  const holderOf = (row: HolderRow): KeyHolder => ({
    hash: row.hash,
    principal: {
      keyId: row.id,
      role: row.role as Role,
      actor: { keyId: row.id, name: row.name },
      environment: { id: row.environment_id, name: row.environment_name },
    },
  });

  return {
    async keyHolders(environmentId) {
      const rows = await holders().where("api_keys.environment_id", "=", environmentId).execute();
      return rows.map(holderOf);
    },

    async positions() {
      const rows = await database
        .selectFrom("environments")
        .select(["id", "name", "revision", "keys_revision"])
        .execute();
      return rows.map(({ id, name, revision, keys_revision }) => ({
        environmentId: id,
        name,
        revision,
        keysRevision: keys_revision,
      }));
    },

    async changesAfter(environmentId, revision, limit) {
      const rows = await database
        .selectFrom("history")
        .select(["revision", "at", "subject", "subject_id", "version", "after", "level"])
        .where("environment_id", "=", environmentId)
        .where("revision", ">", revision)
        .orderBy("revision")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        revision: row.revision ?? 0,
        at: new Date(row.at),
        kind: row.subject as Revision["kind"],
        key: row.subject_id,
        version: row.version ?? 0,
        ...(row.level !== null && { level: row.level }),
        value: row.after === null ? null : (JSON.parse(row.after) as Revision["value"]),
      }));
    },
  };
};
