// Compares a schema with a freshly migrated one: what somebody added, changed or removed.
import { DatabaseSync } from "node:sqlite";
import { createSchema, migrations } from "../schema/migrate.ts";
import { sqliteOn } from "../sqlite/driver.ts";
import { sqliteDialect } from "../sqlite/traits.ts";

export interface SchemaDifference {
  readonly kind: "foreign" | "changed" | "missing";
  /** Such as `table`, `index`, `trigger`, `view` or `rule`. */
  readonly type: string;
  readonly name: string;
  /** The table that it belongs to. */
  readonly table: string;
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  /** Without what says nothing: letter case, quotes and space. */
  readonly definition: string;
}

/** SQLite's own: what counts identities, and what ANALYZE writes. */
const internal = new Set(["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"]);

const objectsIn = (connection: DatabaseSync): SchemaObject[] =>
  connection
    .prepare("select type, name, tbl_name, sql from sqlite_schema order by type, name")
    .all()
    // Indexes of primary keys and unique columns have no text: they follow from their table.
    .filter(
      ({ type, name, sql }) => sql !== null && !(type === "table" && internal.has(String(name))),
    )
    .map(({ type, name, tbl_name, sql }) => ({
      type: String(type),
      name: String(name),
      table: String(tbl_name),
      definition: String(sql)
        .toLowerCase()
        .replaceAll(/["`[\]\s]+/g, " ")
        .replaceAll(/ ?([(),]) ?/g, "$1")
        .trim(),
    }));

/** What a migration to this version creates. */
const freshObjects = async (version: number, all = migrations): Promise<SchemaObject[]> => {
  const connection = new DatabaseSync(":memory:");
  try {
    const database = sqliteOn(connection);
    await createSchema(database, sqliteDialect, version, all);
    return objectsIn(connection);
  } finally {
    connection.close();
  }
};

/** The tables of the newest schema, which have the same names on every database. */
export const ownTables = async (): Promise<ReadonlySet<string>> => {
  const objects = await freshObjects(migrations.length);
  return new Set(objects.filter(({ type }) => type === "table").map(({ name }) => name));
};

/** Undefined for a version that this Halyard does not know. */
export const schemaDifferences = async (
  connection: DatabaseSync,
  version: number,
  all = migrations,
): Promise<readonly SchemaDifference[] | undefined> => {
  if (version > all.length) return undefined;
  const idOf = ({ type, name }: SchemaObject) => `${type} ${name}`;
  const expected = new Map((await freshObjects(version, all)).map((each) => [idOf(each), each]));
  const found = new Map(objectsIn(connection).map((each) => [idOf(each), each]));
  const difference = (
    kind: SchemaDifference["kind"],
    { type, name, table }: SchemaObject,
  ): SchemaDifference => ({ kind, type, name, table });
  const differences: SchemaDifference[] = [];
  for (const [id, object] of found) {
    const own = expected.get(id);
    if (!own) differences.push(difference("foreign", object));
    else if (own.definition !== object.definition) differences.push(difference("changed", object));
  }
  for (const [id, object] of expected) {
    if (!found.has(id)) differences.push(difference("missing", object));
  }
  return differences;
};

/** For people, such as `the trigger "spy" on "api_keys"`. */
export const describeDifference = ({ kind, type, name, table }: SchemaDifference): string => {
  const what = `the ${type} "${name}"${table === name ? "" : ` on "${table}"`}`;
  switch (kind) {
    case "foreign":
      return `${what} is not Halyard's`;
    case "changed":
      return `${what} is not as Halyard creates it`;
    case "missing":
      return `${what} is missing`;
  }
};
