// The store and the key of its secrets: readable, whole, safe from others, with room to grow.
import type {
  InspectedFile,
  InspectedSecretKey,
  InspectedServer,
  InspectedStore,
} from "@halyard/server/compose/doctor";
import type { Config } from "@halyard/server/config";
import { type Check, counted, fail, megabytes, orFine, warn } from "./check.ts";

const forOthers = 0o077;
const largeLog = 268_435_456;
const [littleRoom, hardlyAnyRoom] = [268_435_456, 33_554_432];
const noticeableSkew = 2_000;

type Settings = Pick<Config, "database" | "workers" | "mayMigrate">;

export const storeChecks = (store: InspectedStore, config: Settings) => {
  switch (store.kind) {
    case "absent":
      return [
        fail(
          "store",
          `there is no Halyard database in ${store.place}`,
          "run this in the folder of the server, or name its data folder with --data or HALYARD_DATA; the first halyard serve makes one",
        ),
      ];
    case "unusable": {
      const [said = "", remedy = "see what the message says"] = store.message
        .replace(/\.$/, "")
        .split(/: (?=[^:]*$)/);
      return [fail("store", said, remedy)];
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
      ? fail("store", "the database has no tables of Halyard", "check that it is the right one")
      : schemaVersion > newestSchemaVersion
        ? fail("store", said, "use the newer Halyard that wrote it")
        : mayMigrate
          ? warn("store", said, "back it up and start the new version, or run halyard migrate")
          : fail("store", said, "run halyard migrate: with HALYARD_MIGRATE=off a start refuses"),
  ];
};

const fileChecks = (store: InspectedFile, mayMigrate: boolean): Check[] => {
  const { path, folder, bytes, logBytes, freeBytes, damage } = store;
  const troubles: Check[] = [];
  if (damage === undefined) troubles.push(...schemaChecks(store, mayMigrate));
  else {
    troubles.push(
      fail(
        "store",
        `${path} is damaged or no database (${damage})`,
        "stop the server, and put the newest backup back with halyard restore FOLDER --force",
      ),
    );
  }
  if (!store.writable) {
    troubles.push(
      fail(
        "store",
        `this user may not write in ${folder}`,
        "run this as the user of the server; if it is, give it the folder with chown -R",
      ),
    );
  }
  if (store.folderMode & forOthers && store.fileMode & forOthers) {
    troubles.push(
      warn(
        "store",
        `others on this machine may read ${path}`,
        `chmod 700 ${folder}; chmod 600 ${path}`,
      ),
    );
  }
  if (logBytes > largeLog) {
    troubles.push(
      warn(
        "store",
        `the log beside the database has grown to ${megabytes(logBytes)}`,
        "end what holds the database open for reading (a backup tool, a forgotten sqlite3), or restart the server",
      ),
    );
  }
  if (freeBytes < littleRoom) {
    const rate = freeBytes < hardlyAnyRoom ? fail : warn;
    troubles.push(
      rate(
        "store",
        `only ${megabytes(freeBytes)} are free on the disk of ${folder}`,
        "make room: changes are answered 503 when the disk is full",
      ),
    );
  }
  for (const name of store.leftovers) {
    troubles.push(
      warn("store", `an interrupted restore has left ${name} in ${folder}`, "remove that folder"),
    );
  }
  return orFine(
    troubles,
    "store",
    `${path} is whole, schema version ${store.schemaVersion}, ${megabytes(bytes)}, ${megabytes(freeBytes)} free`,
  );
};

const serverChecks = (
  store: InspectedServer,
  { database, workers, mayMigrate }: Settings,
): Check[] => {
  const troubles = schemaChecks(store, mayMigrate);
  const poolSize = database.kind === "postgres" ? database.poolSize : 0;
  const instances = Math.max(store.instances, workers);
  // Each process listens with one connection besides its pool.
  const wanted = instances * (poolSize + 1);
  if (wanted > store.connections) {
    troubles.push(
      warn(
        "store",
        `${counted(instances, "process", "processes")} with ${poolSize + 1} connections each may ask for ${wanted}, and PostgreSQL gives ${store.connections}`,
        "lower HALYARD_POOL_SIZE or HALYARD_WORKERS, or raise max_connections",
      ),
    );
  }
  const skew = Math.abs(store.clockAhead);
  if (skew > noticeableSkew) {
    troubles.push(
      warn(
        "clock",
        `the clock of PostgreSQL and of this machine are ${(skew / 1_000).toFixed(1)} seconds apart`,
        "let both follow the same time server (NTP)",
      ),
    );
  }
  return orFine(
    troubles,
    "store",
    `PostgreSQL ${store.version} at ${store.name}, schema version ${store.schemaVersion}, ${counted(store.instances, "process", "processes")} connected, ${store.connections} connections`,
  );
};

export const secretKeyChecks = (
  { given, path, mode, problem }: InspectedSecretKey,
  unreadable: readonly string[],
): Check[] => {
  const about = "secret key";
  const troubles: Check[] = [];
  if (problem !== undefined) {
    troubles.push(
      fail(about, problem.replace(/\.$/, ""), "put the file of a backup back, with mode 600"),
    );
  }
  if (mode !== undefined && mode & forOthers) {
    troubles.push(warn(about, `others on this machine may read ${path}`, `chmod 600 ${path}`));
  }
  if (unreadable.length > 0) {
    troubles.push(
      fail(
        about,
        `the secrets of ${counted(unreadable.length, "webhook")} cannot be read, so nothing is sent to ${unreadable.join(", ")}`,
        "put back the key they were encrypted with (secret.key, or HALYARD_SECRET_KEY after the newer ones), or rotate their secrets",
      ),
    );
  }
  const where = [
    ...(given > 0 ? ["HALYARD_SECRET_KEY"] : []),
    ...(mode !== undefined ? [String(path)] : []),
  ];
  return orFine(
    troubles,
    about,
    where.length > 0 ? `in ${where.join(" and ")}` : "none yet; the next start makes it",
  );
};
