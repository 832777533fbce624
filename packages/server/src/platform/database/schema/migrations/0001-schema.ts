// The schema of 1.0.
import type { Migration } from "../migration.ts";
import { changeRequestTables } from "./0001/change-requests.ts";
import { deliveryTables } from "./0001/deliveries.ts";
import { environmentTables } from "./0001/environments.ts";
import { flagTables } from "./0001/flags.ts";
import { historyTables } from "./0001/history.ts";
import { peopleTables } from "./0001/people.ts";

/** Tables come after those that they refer to. */
const tables = [
  environmentTables,
  flagTables,
  historyTables,
  deliveryTables,
  changeRequestTables,
  peopleTables,
] as const;

export const schema: Migration = async (database, dialect) => {
  for (const part of tables) {
    for (const statement of part(dialect)) await statement.execute(database);
  }
};
