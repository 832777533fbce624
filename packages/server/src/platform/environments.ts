// The environments, which every feature stands on: those that can be used, and those that are being copied or deleted.
import { type Selectable, sql } from "kysely";
import type { Actor } from "./auth/principal.ts";
import type { Db, Tx } from "./database/db.ts";
import { percentOf } from "./database/schema/percent.ts";
import type { Tables } from "./database/schema/tables.ts";
import { dateOf } from "./database/schema/times.ts";

/** What an owner may change of an environment. Its name stays: keys, files and events have it. */
export interface EnvironmentSettings {
  /** What people call it; null for its name. */
  readonly label: string | null;
  /** Whether changes need a second person. */
  readonly isProtected: boolean;
  /** When it is deleted with all that is in it; null for never. */
  readonly expiresAt: Date | null;
  /** The limit on flips of a change, in percent; null for none. */
  readonly maxFlips: number | null;
}

export interface Environment extends EnvironmentSettings {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly flagCount: number;
}

/** One that is not there yet, or no longer. Its name is taken. */
export interface UnfinishedEnvironment extends Environment {
  readonly state: "copying" | "deleting";
}

/** What is deleted together with an environment. */
export interface Contents {
  readonly flags: number;
  readonly webhooks: number;
  /** Those that are valid. */
  readonly keys: number;
}

export interface RemovedEnvironment extends Contents {
  readonly name: string;
  readonly beganAt: Date;
  /** Null while rows of it are left. */
  readonly endedAt: Date | null;
  /** Who removed it. */
  readonly actor: Actor;
}

/** Columns by name: a prepared statement stays correct when a newer version adds a column. */
export const environmentColumns = [
  ...(["id", "name", "flag_count", "created_at"] as const),
  ...(["label", "protected", "expires_at", "max_flips"] as const),
] as const;

export const environmentOf = (
  row: Pick<Selectable<Tables["environments"]>, (typeof environmentColumns)[number]>,
): Environment => ({
  id: row.id,
  name: row.name,
  createdAt: new Date(row.created_at),
  flagCount: row.flag_count,
  label: row.label,
  isProtected: row.protected === 1,
  expiresAt: dateOf(row.expires_at),
  maxFlips: percentOf(row.max_flips),
});

const isDeleting = sql<boolean>`environments.id in (select id from removed_environments)`;

const environments = ({ database }: Db) =>
  database.selectFrom("environments").select(environmentColumns).orderBy("name");

/** Those that can be used, by name. */
export const listEnvironments = async (db: Db): Promise<readonly Environment[]> => {
  const found = await environments(db)
    .where("copy_of", "is", null)
    .where((row) => row.not(isDeleting))
    .execute();
  return found.map(environmentOf);
};

export const listUnfinishedEnvironments = async (
  db: Db,
): Promise<readonly UnfinishedEnvironment[]> => {
  const found = await environments(db)
    .select("copy_of")
    .where((row) => row.or([row("copy_of", "is not", null), isDeleting]))
    .execute();
  return found.map((row) => ({
    ...environmentOf(row),
    state: row.copy_of === null ? ("deleting" as const) : ("copying" as const),
  }));
};

/** Newest first. */
export const listRemovedEnvironments = async ({
  database,
}: Db): Promise<readonly RemovedEnvironment[]> => {
  const rows = await database
    .selectFrom("removed_environments")
    .select(["name", "flags", "webhooks", "keys", "began_at", "ended_at", "actor"])
    .orderBy("began_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ began_at, ended_at, actor, ...row }) => ({
    ...row,
    beganAt: new Date(began_at),
    endedAt: ended_at === null ? null : new Date(ended_at),
    actor: JSON.parse(actor) as Actor,
  }));
};

export const updateProtected = async (
  { database }: Tx,
  id: number,
  isProtected: boolean,
): Promise<void> => {
  await database
    .updateTable("environments")
    .set({ protected: isProtected ? 1 : 0 })
    .where("id", "=", id)
    .execute();
};
