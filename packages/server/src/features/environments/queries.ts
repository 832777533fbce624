// Creates and changes environments in SQL.
import { genesis } from "@halyard/core/history/chain";
import type { Tx } from "../../platform/database/db.ts";
import { storedPercent } from "../../platform/database/schema/percent.ts";
import {
  type Environment,
  type EnvironmentSettings,
  environmentColumns,
  environmentOf,
} from "../../platform/environments.ts";

const columnsOf = ({ label, isProtected, expiresAt, maxFlips }: Partial<EnvironmentSettings>) => ({
  ...(label !== undefined && { label }),
  ...(isProtected !== undefined && { protected: isProtected ? 1 : 0 }),
  ...(expiresAt !== undefined && { expires_at: expiresAt?.getTime() ?? null }),
  ...(maxFlips !== undefined && { max_flips: storedPercent(maxFlips) }),
});

/** With `copyOf`, the id of another, it is hidden until the copy is finished. */
export const insertEnvironment = async (
  { database, dialect, signal }: Tx,
  name: string,
  at: Date,
  settings: Partial<EnvironmentSettings> = {},
  copyOf?: number,
): Promise<Environment> => {
  const row = await database
    .insertInto("environments")
    .values({
      name,
      revision: 0,
      sequence: 0,
      flag_count: 0,
      chain: genesis,
      created_at: at.getTime(),
      ...columnsOf(settings),
      copy_of: copyOf ?? null,
    })
    .returning(environmentColumns)
    .executeTakeFirstOrThrow();
  await dialect.notify(database);
  signal.environmentNames.set(row.id, name);
  return environmentOf(row);
};

export const updateEnvironment = async (
  { database, dialect }: Tx,
  id: number,
  settings: Partial<EnvironmentSettings>,
): Promise<void> => {
  await database
    .updateTable("environments")
    .set(columnsOf(settings))
    .where("id", "=", id)
    .execute();
  await dialect.notify(database);
};
