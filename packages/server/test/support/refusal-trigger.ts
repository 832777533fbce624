// Makes the database of a started server refuse certain writes.
import { writeRows } from "./database.ts";
import type { TestServer } from "./server.ts";
import { onPostgres } from "./test-store.ts";

/** The ways in which a trigger can refuse; a statement, its transaction, or the rest of a statement. */
export const refusalsOf = onPostgres ? ["exception"] : ["abort", "rollback", "fail"];

const addTrigger = async (
  server: Pick<TestServer, "folder">,
  when: string,
  what: string,
): Promise<() => Promise<void>> => {
  if (!onPostgres) {
    await writeRows(server, `create trigger refusal ${when} begin ${what}; end`);
    return () => writeRows(server, "drop trigger refusal");
  }
  await writeRows(
    server,
    `create function refusal() returns trigger language plpgsql
     as $$ begin ${what}; return new; end $$`,
  );
  await writeRows(server, `create trigger refusal ${when} for each row execute function refusal()`);
  return () => writeRows(server, "drop function refusal cascade");
};

/** From now on every write of this kind is refused, such as "before update on flags"; gives what ends that. */
export const refuseWrites = (
  server: Pick<TestServer, "folder">,
  when: string,
  how = refusalsOf[0] ?? "",
): Promise<() => Promise<void>> =>
  addTrigger(
    server,
    when,
    onPostgres
      ? `raise ${how} 'refused by the test'`
      : `select raise(${how}, 'refused by the test')`,
  );

/** From now on every commit with a new delivery is refused, and only the commit; gives what ends that. */
export const refuseCommits = async (
  server: Pick<TestServer, "folder">,
): Promise<() => Promise<void>> => {
  // A row that breaks its promise is noticed by the commit alone.
  const number = onPostgres ? "bigint" : "integer";
  await writeRows(
    server,
    `create table promises (
       kept ${number} references environments (id) deferrable initially deferred)`,
  );
  const end = await addTrigger(
    server,
    "after insert on deliveries",
    "insert into promises (kept) values (-1)",
  );
  return async () => {
    await end();
    await writeRows(server, "drop table promises");
  };
};
