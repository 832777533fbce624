// Deletes change requests that are older than their retention.
import type { Db } from "../../platform/database/db.ts";
import { idList } from "../../platform/database/schema/id-list.ts";

/** Rows deleted in one transaction: few enough that nothing waits long for it. */
const pruneBatch = 500;

/** Change requests that are over are kept as long as history; their discussion is deleted with them. True when there may be more. */
export const pruneRequests = async ({ database }: Db, before: number): Promise<boolean> => {
  const old = await database
    .selectFrom("change_requests")
    .select("id")
    .where("updated_at", "<", before)
    .where("state", "not in", ["open", "approved"])
    .limit(pruneBatch)
    .execute();
  if (old.length === 0) return false;
  await database
    .deleteFrom("change_requests")
    .where("id", "in", idList(old.map(({ id }) => id)))
    .execute();
  return old.length === pruneBatch;
};
