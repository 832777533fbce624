// Queries of the busiest paths: built and compiled once for each kind of database, then only filled in.
import type { CompiledQuery } from "kysely";
import type { DatabaseTraits, GivenRows, RowValues } from "./dialect.ts";
import { execute } from "./kysely-on.ts";
import type { Database } from "./tables.ts";

export interface Prepared<Values, Row, Context> {
  readonly fill: (database: Database, values: Values, context: Context) => CompiledQuery<Row>;
  readonly run: (database: Database, values: Values, context: Context) => Promise<Row[]>;
}

/** A query of Kysely's, or SQL. */
interface Buildable<Row> {
  compile(database: Database): CompiledQuery<Row>;
}

/** Stands for a value while the query is built. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

/** `build` gets placeholders in the place of values, so it cannot depend on them. */
export const prepared = <Values extends object, Row, Context = void>(
  build: (database: Database, values: Values, context: Context) => Buildable<Row>,
): Prepared<Values, Row, Context> => {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  const fill: Prepared<Values, Row, Context>["fill"] = (database, values, context) => {
    const { adapter } = database.getExecutor();
    let query = compiled.get(adapter);
    if (!query) {
      query = build(database, placeholders as Values, context).compile(database);
      compiled.set(adapter, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return { ...query, parameters };
  };
  return {
    fill,
    async run(database, values, context) {
      return (await execute(database, fill(database, values, context))).rows;
    },
  };
};

type RowOf<Numbers extends string, Texts extends string> = Readonly<
  Record<Numbers, number | null> & Record<Texts, string | null>
>;

/** A statement that writes any number of rows, see `DatabaseTraits.writeRows`. */
export const rowsToWrite = <const Numbers extends string, const Texts extends string>(
  columns: { readonly numbers: readonly Numbers[]; readonly texts: readonly Texts[] },
  build: (database: Database, given: GivenRows<Numbers | Texts>) => Buildable<unknown>,
) => {
  const statement = prepared<RowValues, unknown, DatabaseTraits>((database, values, traits) =>
    build(database, traits.given(columns, values)),
  );
  return (
    database: Database,
    traits: DatabaseTraits,
    rows: readonly RowOf<Numbers, Texts>[],
  ): Promise<void> =>
    traits.writeRows(database, rows, (values) => statement.fill(database, values, traits));
};
