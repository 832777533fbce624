// The rows of environments: those that can be used, and those that are being copied or deleted.
import { type Selectable, sql } from "kysely";
import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import { percentOf, storedPercent } from "../../platform/database/schema/percent.ts";
import type { Database, Tables } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import type {
  Environment,
  EnvironmentReads,
  EnvironmentSettings,
  EnvironmentWrites,
} from "./rules.ts";

/** Columns by name: a prepared statement stays correct when a newer version adds a column. */
const columns = [
  ...(["id", "name", "flag_count", "created_at"] as const),
  ...(["label", "color", "protected", "expires_at", "max_flips"] as const),
] as const;

const environmentOf = (
  row: Pick<Selectable<Tables["environments"]>, (typeof columns)[number]>,
): Environment => ({
  id: row.id,
  name: row.name,
  createdAt: new Date(row.created_at),
  flagCount: row.flag_count,
  label: row.label,
  color: row.color,
  isProtected: row.protected === 1,
  expiresAt: dateOf(row.expires_at),
  maxFlips: percentOf(row.max_flips),
});

const isDeleting = sql<boolean>`environments.id in (select id from removed_environments)`;

export const environmentReads = (database: Database): EnvironmentReads => {
  const rows = () => database.selectFrom("environments").select(columns).orderBy("name");
  return {
    async environments() {
      const found = await rows()
        .where("copy_of", "is", null)
        .where((row) => row.not(isDeleting))
        .execute();
      return found.map(environmentOf);
    },

    async unfinishedEnvironments() {
      const found = await rows()
        .select("copy_of")
        .where((row) => row.or([row("copy_of", "is not", null), isDeleting]))
        .execute();
      return found.map((row) => ({
        ...environmentOf(row),
        state: row.copy_of === null ? ("deleting" as const) : ("copying" as const),
      }));
    },
  };
};

const columnsOf = ({
  label,
  color,
  isProtected,
  expiresAt,
  maxFlips,
}: Partial<EnvironmentSettings>) => ({
  ...(label !== undefined && { label }),
  ...(color !== undefined && { color }),
  ...(isProtected !== undefined && { protected: isProtected ? 1 : 0 }),
  ...(expiresAt !== undefined && { expires_at: expiresAt?.getTime() ?? null }),
  ...(maxFlips !== undefined && { max_flips: storedPercent(maxFlips) }),
});

export const environmentWrites = (
  database: Database,
  traits: DatabaseTraits,
): Pick<EnvironmentWrites, "insertEnvironment" | "updateEnvironment"> => ({
  async insertEnvironment(name, at, settings = {}, copyOf) {
    const row = await database
      .insertInto("environments")
      .values({
        name,
        revision: 0,
        sequence: 0,
        flag_count: 0,
        created_at: at.getTime(),
        ...columnsOf(settings),
        copy_of: copyOf ?? null,
      })
      .returning(columns)
      .executeTakeFirstOrThrow();
    await traits.notify(database);
    return environmentOf(row);
  },

  async updateEnvironment(id, settings) {
    await database
      .updateTable("environments")
      .set(columnsOf(settings))
      .where("id", "=", id)
      .execute();
    await traits.notify(database);
  },
});
