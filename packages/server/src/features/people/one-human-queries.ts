// Which accounts belong to one human, in SQL.
import { randomUUID } from "node:crypto";
import type { Db, Tx } from "../../platform/database/db.ts";
import { ensureAddressKey } from "./address-hashes.ts";
import { auditUser } from "./audit-user.ts";

const grouped = (rows: readonly { readonly id: string; readonly other: string }[]) => {
  const groups = new Map<string, string[]>();
  for (const { id, other } of rows) groups.set(id, [...(groups.get(id) ?? []), other]);
  return groups;
};

type ByUser = Promise<ReadonlyMap<string, readonly string[]>>;

/** For all accounts, or for one when its id alone is given: the ids of the accounts that an owner linked with it. */
export const listLinked = async ({ database }: Db, userIds: readonly string[]): ByUser => {
  const rows = await database
    .selectFrom("linked_accounts as own")
    .innerJoin("linked_accounts as others", "others.human", "own.human")
    .innerJoin("users", "users.id", "others.user_id")
    .whereRef("others.user_id", "!=", "own.user_id")
    .$if(userIds.length === 1, (all) => all.where("own.user_id", "=", userIds[0] ?? ""))
    .select(["own.user_id as id", "others.user_id as other"])
    .orderBy("others.user_id")
    .execute();
  return grouped(rows);
};

/** For the same accounts: the ids of those that have, or had, the same address. */
export const listWithSameAddress = async ({ database }: Db, userIds: readonly string[]): ByUser => {
  const rows = await database
    .selectFrom("user_addresses as own")
    .innerJoin("user_addresses as others", "others.hash", "own.hash")
    .whereRef("others.user_id", "!=", "own.user_id")
    .$if(userIds.length === 1, (all) => all.where("own.user_id", "=", userIds[0] ?? ""))
    .select(["own.user_id as id", "others.user_id as other"])
    .distinct()
    .orderBy("others.user_id")
    .execute();
  return grouped(rows);
};

/** The accounts that are linked with one of these or share an address with it, these and removed ones included. */
export const listRelated = async (
  { database }: Db,
  userIds: readonly string[],
): Promise<readonly string[]> => {
  const linked = await database
    .selectFrom("linked_accounts as own")
    .innerJoin("linked_accounts as others", "others.human", "own.human")
    .where("own.user_id", "in", userIds)
    .select("others.user_id as id")
    .execute();
  const sharing = await database
    .selectFrom("user_addresses as own")
    .innerJoin("user_addresses as others", "others.hash", "own.hash")
    .where("own.user_id", "in", userIds)
    .select("others.user_id as id")
    .execute();
  return [...linked, ...sharing].map(({ id }) => id);
};

/** Whether an account that isn't linked with this one had one of its addresses first. */
export const isAddressTaken = async (tx: Tx, userId: string): Promise<boolean> => {
  await ensureAddressKey(tx);
  const earlier = await tx.database
    .selectFrom("user_addresses as own")
    .innerJoin("user_addresses as others", "others.hash", "own.hash")
    .where("own.user_id", "=", userId)
    .where((row) =>
      row.or([
        row("others.since", "<", row.ref("own.since")),
        row.and([
          row("others.since", "=", row.ref("own.since")),
          row("others.user_id", "<", row.ref("own.user_id")),
        ]),
      ]),
    )
    .where("others.user_id", "not in", (linked) =>
      linked
        .selectFrom("linked_accounts as mine")
        .innerJoin("linked_accounts as also", "also.human", "mine.human")
        .where("mine.user_id", "=", userId)
        .select("also.user_id"),
    )
    .select("others.user_id")
    .limit(1)
    .executeTakeFirst();
  return earlier !== undefined;
};

export const linkAccounts = async (tx: Tx, one: string, other: string): Promise<void> => {
  const { database } = tx;
  for (const id of [one, other]) auditUser(tx, "linked", id);
  const known = await database
    .selectFrom("linked_accounts")
    .select("human")
    .where("user_id", "in", [one, other])
    .execute();
  const humans = [...new Set(known.map(({ human }) => human))];
  // Never an account's id: the group may outlive the account's place in it.
  const human = humans[0] ?? randomUUID();
  if (humans.length > 1) {
    await database
      .updateTable("linked_accounts")
      .set({ human })
      .where("human", "in", humans)
      .execute();
  }
  await database
    .insertInto("linked_accounts")
    .values([one, other].map((user_id) => ({ user_id, human })))
    .onConflict((conflict) => conflict.column("user_id").doNothing())
    .execute();
};

export const unlinkAccount = async (tx: Tx, userId: string): Promise<void> => {
  auditUser(tx, "unlinked", userId);
  await tx.database.deleteFrom("linked_accounts").where("user_id", "=", userId).execute();
};
