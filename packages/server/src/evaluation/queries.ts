// The reads of ports.ts that instances follow: the position of each environment, its revisions, its keys.

import { keyLimits } from "../platform/auth/key-limits.ts";
import { lesserRole, type Role } from "../platform/auth/principal.ts";
import { percentOf } from "../platform/database/schema/percent.ts";
import type { Database } from "../platform/database/schema/tables.ts";
import type { Reader } from "../platform/database/store.ts";
import type { Revision } from "../writes/change.ts";

type FollowReads = Pick<Reader, "positions" | "changesAfter" | "keyHolders">;

export const followReads = (database: Database): FollowReads => ({
  async keyHolders(environmentId) {
    const rows = await database
      .selectFrom("api_keys as held")
      .innerJoin("environments", "environments.id", "held.environment_id")
      .leftJoin("users", "users.id", "held.user_id")
      // What the person may do whose key it is.
      .leftJoin("api_keys as access", (join) =>
        join
          .onRef("access.user_id", "=", "held.user_id")
          .onRef("access.environment_id", "=", "held.environment_id")
          .on("access.kind", "=", "access")
          .on("access.revoked_at", "is", null),
      )
      .select(["held.id", "held.name", "held.role", "held.hash", "held.kind", "held.user_id"])
      .select(["held.expires_at", "held.origins", "held.writes_directly", "held.max_flips"])
      .select(["environments.name as environment", "users.name as userName", "users.email"])
      .select("access.role as personRole")
      .where("held.environment_id", "=", environmentId)
      .where("held.revoked_at", "is", null)
      .execute();
    return rows.flatMap((row) => {
      const user = row.user_id === null ? undefined : { id: row.user_id, name: row.userName ?? "" };
      // The key of somebody who may do nothing here any more.
      if (user && row.personRole === null) return [];
      const isAccess = row.kind === "access";
      return {
        hash: row.hash,
        accessOf: isAccess ? row.user_id : null,
        email: row.email,
        principal: {
          keyId: row.id,
          role: lesserRole(row.role as Role, (row.personRole ?? row.role) as Role),
          actor: {
            keyId: isAccess ? null : row.id,
            name: isAccess && user ? user.name : row.name,
            ...(user && { user }),
          },
          environment: { id: environmentId, name: row.environment },
          ...keyLimits(row),
          ...(row.writes_directly === 1 && { writesDirectly: true }),
          ...(row.max_flips !== null && { maxFlips: percentOf(row.max_flips) ?? 0 }),
        },
      };
    });
  },

  positions: () =>
    database
      .selectFrom("environments")
      .select(["id as environmentId", "name", "revision", "keys_revision as keysRevision"])
      .where("copy_of", "is", null)
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
