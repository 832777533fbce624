// Which entries of a history were changed afterwards: they say neither what their digest was made of nor what a redaction made of it.
import { readStatement } from "@halyard/core/history/chain";
import type { IsSigned } from "@halyard/core/history/verify";
import { sql } from "kysely";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { storedColumns, storedOf } from "../../platform/database/schema/history-row.ts";
import { idList } from "../../platform/database/schema/id-list.ts";
import { contentDigest } from "../../writes/chained-entry.ts";

/** Read at once, unless a single entry has more. */
const maxBytes = 8 * 1_024 * 1_024;

const size = sql<number>`coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)`;

const inParts = async ({ database }: Db, ids: readonly number[]): Promise<number[][]> => {
  const rows = await database
    .selectFrom("history")
    .select(["id", size.as("size")])
    .where("id", "in", idList(ids))
    .execute();
  const parts: number[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    bytes += Number(row.size);
    if (bytes > maxBytes) {
      parts.push([]);
      bytes = Number(row.size);
    }
    parts.at(-1)?.push(row.id);
  }
  return parts.filter((part) => part.length > 0);
};

/** The digests of what redacted entries say, by the number of the entry. */
const redactedContents = async (
  { database }: Db,
  isSigned: IsSigned,
  ids: readonly number[],
): Promise<ReadonlySet<string>> => {
  const rows = await database
    .selectFrom("history_checkpoints")
    .select(["entry_id as id", "statement", "key_id as keyId", "hmac"])
    .where("kind", "=", "redacted")
    .where("entry_id", "in", idList(ids))
    .execute();
  const contents = rows.flatMap((row) => {
    const statement = readStatement(row.statement);
    const isOurs = isSigned({ type: "checkpoint", ...row }) && statement?.kind === "redacted";
    return isOurs ? [`${statement.digest} ${statement.content}`] : [];
  });
  return new Set(contents);
};

export const changedEntries = async (
  db: Db,
  isSigned: IsSigned,
  { name }: EnvironmentRef,
  ids: readonly number[],
): Promise<ReadonlySet<number>> => {
  const changed = new Set<number>();
  if (ids.length === 0) return changed;
  const redacted = await redactedContents(db, isSigned, ids);
  for (const part of await inParts(db, ids)) {
    const rows = await db.database
      .selectFrom("history")
      .select(storedColumns)
      .select("digest")
      .where("id", "in", idList(part))
      .execute();
    for (const row of rows) {
      const content = contentDigest(storedOf(row), name);
      const isTrue = content === row.digest || redacted.has(`${row.digest} ${content}`);
      if (!isTrue) changed.add(row.id);
    }
  }
  return changed;
};
