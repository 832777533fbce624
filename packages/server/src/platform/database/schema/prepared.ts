// Queries of the busiest paths: built and compiled once for each kind of database, then only filled in.
import type { CompiledQuery } from "kysely";
import type { Dialect, GivenRows, RowValues, Value } from "./dialect.ts";
import { type Buildable, execute, send } from "./kysely-on.ts";
import type { Database } from "./tables.ts";

export type { Value } from "./dialect.ts";

export interface Prepared<Values, Row, Context> {
  readonly run: (database: Database, values: Values, context: Context) => Promise<Row[]>;
  /** For writes of which nothing is read, see `Connection.send`. */
  readonly send: (database: Database, values: Values, context: Context) => Promise<void>;
}

/** Stands for a value while a query is built. */
class Placeholder {
  readonly name: PropertyKey;
  constructor(name: PropertyKey) {
    this.name = name;
  }
}

export const prepared = <Values extends object, Row, Context = void>(
  build: (database: Database, value: Value<Values>, context: Context) => Buildable<Row>,
): Prepared<Values, Row, Context> => {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  const value = (name: PropertyKey) => new Placeholder(name) as never;
  const fill = (database: Database, values: Values, context: Context): CompiledQuery<Row> => {
    const { adapter } = database.getExecutor();
    let query = compiled.get(adapter);
    if (!query) {
      query = build(database, value, context).compile(database);
      compiled.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return { ...query, parameters };
  };
  return {
    async run(database, values, context) {
      return (await execute(database, fill(database, values, context))).rows;
    },
    send: (database, values, context) =>
      send(database, { compile: () => fill(database, values, context) }),
  };
};

type RowOf<Numbers extends string, Texts extends string> = Readonly<
  Record<Numbers, number | null> & Record<Texts, string | null>
>;

/** A statement that writes any number of rows, in their order. Rows must not depend on each other. */
export const rowsToWrite = <const Numbers extends string, const Texts extends string>(
  columns: { readonly numbers: readonly Numbers[]; readonly texts: readonly Texts[] },
  build: (database: Database, given: GivenRows<Numbers | Texts>) => Buildable,
) => {
  const statement = prepared((database, value: Value<RowValues>, dialect: Dialect) =>
    build(database, dialect.given(columns, value)),
  );
  return async (
    database: Database,
    dialect: Dialect,
    rows: readonly RowOf<Numbers, Texts>[],
  ): Promise<void> => {
    for (const values of dialect.rowValues(rows)) await statement.send(database, values, dialect);
  };
};
