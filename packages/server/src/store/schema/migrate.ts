// Brings the schema up to date, one numbered migration after the other, in one transaction.
import { StartupProblem } from "../../errors.ts";
import type { DatabaseTraits } from "./dialect.ts";
import type { MigrationRun } from "./migration-run.ts";
import { first } from "./migrations/0.1/0001-first.ts";
import { delivery } from "./migrations/0.1/0002-delivery.ts";
import { evaluation } from "./migrations/0.1/0003-evaluation.ts";
import { clockSteps } from "./migrations/0.1/0004-clock-steps.ts";
import { signInLinks } from "./migrations/0.1/0005-sign-in-links.ts";
import { keyUse } from "./migrations/0.1/0006-key-use.ts";
import { definitions } from "./migrations/0007-definitions.ts";
import { access } from "./migrations/0008-access.ts";
import { replays } from "./migrations/0009-replays.ts";
import { counts } from "./migrations/0010-counts.ts";
import { targeting } from "./migrations/0011-targeting.ts";
import { reasons } from "./migrations/0012-reasons.ts";
import { people } from "./migrations/0013-people.ts";
import { changeRequests } from "./migrations/0014-change-requests.ts";
import { chain } from "./migrations/0015-chain.ts";
import { flipLimits } from "./migrations/0016-flip-limits.ts";
import { instances } from "./migrations/0017-instances.ts";
import { cloudEvents } from "./migrations/0018-cloud-events.ts";
import type { Database } from "./tables.ts";

export const migrations = [
  first,
  delivery,
  evaluation,
  clockSteps,
  signInLinks,
  keyUse,
  definitions,
  access,
  replays,
  counts,
  targeting,
  reasons,
  people,
  changeRequests,
  chain,
  flipLimits,
  instances,
  cloudEvents,
] as const;

/** How far a migration has come, when it takes long. */
export type OnProgress = MigrationRun["onProgress"];

const createVersionTable = (database: Database): Promise<void> =>
  database.schema
    .createTable("schema_version")
    .ifNotExists()
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();

/** The schema of a version in an empty database, to compare others with. */
export const createSchema = async (
  database: Database,
  traits: DatabaseTraits,
  version: number,
): Promise<void> => {
  await createVersionTable(database);
  const run = { database, onProgress: () => {} };
  for (const migration of migrations.slice(0, version)) {
    await migration(database.schema, traits, run);
  }
};

/** Call it inside a transaction that no second process can enter at the same time. */
export const migrate = async (
  database: Database,
  traits: DatabaseTraits,
  mayChange = true,
  onProgress: OnProgress = () => {},
): Promise<void> => {
  await createVersionTable(database);
  const row = await database.selectFrom("schema_version").select("version").executeTakeFirst();
  const present = row?.version ?? 0;
  if (present > migrations.length) {
    throw new StartupProblem(
      `The database has schema version ${present}, but this version of Halyard knows only up to ${migrations.length}: start the newer Halyard that wrote it, or restore a backup from before the upgrade.`,
    );
  }
  if (present === migrations.length) return;
  if (!mayChange) {
    throw new StartupProblem(
      `The database has schema version ${present} and this version of Halyard needs ${migrations.length}, but HALYARD_MIGRATE is off: run \`halyard migrate\` first.`,
    );
  }
  const run = { database, onProgress };
  for (const migration of migrations.slice(present)) await migration(database.schema, traits, run);
  if (row)
    await database.updateTable("schema_version").set({ version: migrations.length }).execute();
  else await database.insertInto("schema_version").values({ version: migrations.length }).execute();
};
