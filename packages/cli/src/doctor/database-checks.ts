// Checks of the database and its secret key: readable, intact, private, and with free disk space.
import type {
  InspectedFile,
  InspectedSecretKey,
  InspectedServer,
  InspectedStore,
} from "@halyard/server/operator/doctor";
import type { Config } from "@halyard/server/settings";
import { type Check, counted, fail, megabytes, orOk, warn } from "./check.ts";
import { schemaDifferenceChecks } from "./schema-checks.ts";

const forOthers = 0o077;
const largeLog = 268_435_456;
const [lowSpace, criticalSpace] = [268_435_456, 33_554_432];
const noticeableSkew = 2_000;

type Settings = Pick<Config, "database" | "workers" | "mayMigrate">;

export const databaseChecks = (store: InspectedStore, config: Settings) => {
  switch (store.kind) {
    case "absent":
      return [
        fail(
          "database",
          `there is no Halyard database in ${store.place}`,
          "run this in the server's folder, or pass its data folder with --data or HALYARD_DATA; the first halyard serve creates one",
        ),
      ];
    case "unusable": {
      const [said = "", remedy = "follow the message"] = store.message
        .replace(/\.$/, "")
        .split(/: (?=[^:]*$)/);
      return [fail("database", said, remedy)];
    }
    case "embedded":
      return fileChecks(store, config.mayMigrate);
    case "postgres":
      return serverChecks(store, config);
  }
};

const schemaChecks = (
  {
    schemaVersion,
    newestSchemaVersion,
  }: Pick<InspectedFile, "schemaVersion" | "newestSchemaVersion">,
  mayMigrate: boolean,
): Check[] => {
  if (schemaVersion === newestSchemaVersion) return [];
  const said = `the schema has version ${schemaVersion} and this Halyard has ${newestSchemaVersion}`;
  return [
    schemaVersion === 0
      ? fail("database", "the database has no Halyard tables", "check that it is the right one")
      : schemaVersion > newestSchemaVersion
        ? fail("database", said, "use the newer Halyard that wrote it")
        : mayMigrate
          ? warn(
              "database",
              said,
              "back up the database and start the new version, or run halyard migrate",
            )
          : fail(
              "database",
              said,
              "run halyard migrate: with HALYARD_MIGRATE=off the server does not start without it",
            ),
  ];
};

const fileChecks = (store: InspectedFile, mayMigrate: boolean): Check[] => {
  const { path, folder, bytes, logBytes, freeBytes, damage } = store;
  const problems: Check[] = [];
  if (damage === undefined) problems.push(...schemaChecks(store, mayMigrate));
  else {
    problems.push(
      fail(
        "database",
        `${path} is damaged or not a database (${damage})`,
        "stop the server, and restore the newest backup with halyard restore FOLDER --force",
      ),
    );
  }
  problems.push(
    ...schemaDifferenceChecks(
      store.differences,
      "move it to a database of its own: restore rejects a backup that contains it",
    ),
  );
  if (!store.writable) {
    problems.push(
      fail(
        "database",
        `this user cannot write to ${folder}`,
        "run this as the server's user; if you already do, change the owner of the folder with chown -R",
      ),
    );
  }
  if (store.folderMode & forOthers && store.fileMode & forOthers) {
    problems.push(
      warn(
        "database",
        `other users of this machine can read ${path}`,
        `chmod 700 ${folder}; chmod 600 ${path}`,
      ),
    );
  }
  if (logBytes > largeLog) {
    problems.push(
      warn(
        "database",
        `the write-ahead log has grown to ${megabytes(logBytes)}`,
        "close programs that keep the database open for reading (a backup tool, a forgotten sqlite3), or restart the server",
      ),
    );
  }
  if (freeBytes < lowSpace) {
    const rate = freeBytes < criticalSpace ? fail : warn;
    problems.push(
      rate(
        "database",
        `only ${megabytes(freeBytes)} are free on the disk of ${folder}`,
        "free some space: changes fail with 503 once the disk is full",
      ),
    );
  }
  for (const name of store.leftovers) {
    problems.push(
      warn("database", `an interrupted restore left ${name} in ${folder}`, "remove that folder"),
    );
  }
  return orOk(
    problems,
    "database",
    `${path} is intact, schema version ${store.schemaVersion}, ${megabytes(bytes + logBytes)}, ${megabytes(freeBytes)} free`,
  );
};

const serverChecks = (
  store: InspectedServer,
  { database, workers, mayMigrate }: Settings,
): Check[] => {
  const problems = [
    ...schemaChecks(store, mayMigrate),
    ...schemaDifferenceChecks(
      store.differences,
      "if it belongs to another program, use a separate database or schema for Halyard; otherwise find out who created it",
    ),
  ];
  const poolSize = database.kind === "postgres" ? database.poolSize : 0;
  const instances = Math.max(store.instances, workers);
  // Each process uses one connection for notifications in addition to its pool.
  const wanted = instances * (poolSize + 1);
  if (wanted > store.connections) {
    problems.push(
      warn(
        "database",
        `${counted(instances, "process", "processes")} with ${poolSize + 1} connections each may open ${wanted}, and PostgreSQL allows ${store.connections}`,
        "lower HALYARD_POOL_SIZE or HALYARD_WORKERS, or raise max_connections",
      ),
    );
  }
  if (store.unencrypted) {
    problems.push(
      warn(
        "database",
        `the connection to PostgreSQL at ${store.name} is not encrypted and leaves this machine`,
        "use sslmode=verify-full in DATABASE_URL",
      ),
    );
  }
  const skew = Math.abs(store.clockAhead);
  if (skew > noticeableSkew) {
    problems.push(
      warn(
        "clock",
        `the clocks of PostgreSQL and of this machine are ${(skew / 1_000).toFixed(1)} seconds apart`,
        "synchronize both with the same time server (NTP)",
      ),
    );
  }
  return orOk(
    problems,
    "database",
    `PostgreSQL ${store.version} at ${store.name}, schema version ${store.schemaVersion}, ${counted(store.instances, "process", "processes")} connected, ${store.connections} connections`,
  );
};

export const secretKeyChecks = (
  { given, path, mode, problem }: InspectedSecretKey,
  unreadable: readonly string[],
): Check[] => {
  const about = "secret key";
  const problems: Check[] = [];
  if (problem !== undefined) {
    problems.push(
      fail(about, problem.replace(/\.$/, ""), "restore the file from a backup, with mode 600"),
    );
  }
  if (mode !== undefined && mode & forOthers) {
    problems.push(warn(about, `other users of this machine can read ${path}`, `chmod 600 ${path}`));
  }
  const people = unreadable.filter((id) => id.startsWith("usr_"));
  const webhooks = unreadable.filter((id) => !people.includes(id) && id !== "installation");
  const restore =
    "restore the key that encrypted them (secret.key, or HALYARD_SECRET_KEY after the newer ones)";
  if (webhooks.length > 0) {
    problems.push(
      fail(
        about,
        `the secrets of ${counted(webhooks.length, "webhook")} can't be read, so no events are sent to ${webhooks.join(", ")}`,
        `${restore}, or rotate their secrets`,
      ),
    );
  }
  if (people.length > 0) {
    problems.push(
      fail(
        about,
        `${counted(people.length, "second factor")} can't be read, so password sign-in fails for ${people.join(", ")}`,
        restore,
      ),
    );
  }
  if (unreadable.includes("installation")) {
    problems.push(
      fail(
        about,
        "account email addresses can't be compared, so approvals and sign-ins with an identity provider are rejected",
        `${restore}; if it is lost permanently, run halyard secrets reencrypt --lost-address-key`,
      ),
    );
  }
  const where = [
    ...(given > 0 ? ["HALYARD_SECRET_KEY"] : []),
    ...(mode !== undefined ? [String(path)] : []),
  ];
  return orOk(
    problems,
    about,
    where.length > 0 ? `in ${where.join(" and ")}` : "none yet; the next start creates it",
  );
};
