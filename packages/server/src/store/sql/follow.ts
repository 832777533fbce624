// The reads of ports.ts that instances follow: the position of each environment, its revisions, its keys.
import type { ApiKey } from "../../domain/api-key.ts";
import type { Revision } from "../../domain/change.ts";
import type { Role } from "../../domain/principal.ts";
import type { Reader } from "../../ports.ts";
import type { Database, Tables } from "../schema/tables.ts";

type FollowReads = Pick<Reader, "positions" | "changesAfter" | "keyHolders">;

/** What of a key's row limits its use. */
export const keyLimits = ({
  expires_at,
  origins,
}: Pick<Tables["api_keys"], "expires_at" | "origins">): Pick<ApiKey, "expiresAt" | "origins"> => ({
  expiresAt: expires_at === null ? null : new Date(expires_at),
  origins: origins === null ? null : (JSON.parse(origins) as string[]),
});

export const followReads = (database: Database): FollowReads => ({
  async keyHolders(environmentId) {
    const rows = await database
      .selectFrom("api_keys")
      .innerJoin("environments", "environments.id", "api_keys.environment_id")
      .select(["api_keys.id", "api_keys.name", "role", "hash", "environments.name as environment"])
      .select(["expires_at", "origins"])
      .where("environment_id", "=", environmentId)
      .where("revoked_at", "is", null)
      .execute();
    return rows.map(({ id, name, role, hash, environment, ...limits }) => ({
      hash,
      principal: {
        keyId: id,
        role: role as Role,
        actor: { keyId: id, name },
        environment: { id: environmentId, name: environment },
        ...keyLimits(limits),
      },
    }));
  },

  positions: () =>
    database
      .selectFrom("environments")
      .select(["id as environmentId", "name", "revision", "keys_revision as keysRevision"])
      .execute(),

  async changesAfter(environmentId, revision, limit) {
    const rows = await database
      .selectFrom("history")
      .select(["revision", "at", "subject", "subject_id", "version", "after", "level"])
      .where("environment_id", "=", environmentId)
      .where("revision", ">", revision)
      .orderBy("revision")
      .limit(limit)
      .execute();
    return rows.map(
      (row) =>
        ({
          revision: row.revision ?? 0,
          at: new Date(row.at),
          kind: row.subject as Revision["kind"],
          key: row.subject_id,
          version: row.version ?? 0,
          ...(row.level !== null && { level: row.level }),
          value: row.after === null ? null : JSON.parse(row.after),
        }) as Revision,
    );
  },
});
