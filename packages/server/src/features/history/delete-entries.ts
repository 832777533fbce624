// Deletes entries of a history, and leaves a signed checkpoint in the place of each row of them.
import {
  chainAfter,
  genesis,
  type PrunedStatement,
  readStatement,
} from "@halyard/core/history/chain";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { idList } from "../../platform/database/schema/id-list.ts";
import { sha256 } from "../../platform/text-hash.ts";
import { changedEntries } from "./changed-entries.ts";
import { deleteCheckpoints, insertCheckpoint, signedBy } from "./checkpoints.ts";

/** A row of entries that follow each other and are gone. */
type Gap = Omit<PrunedStatement, "kind" | "environment" | "at">;
interface OpenGap extends Gap {
  /** The last of them. */
  readonly id: number;
}

/** Follows nothing: a break in the chain stays visible when the entries around it are gone. */
const nowhere = "";

const entriesAround = async (
  { database }: Db,
  environmentId: number,
  first: number,
  last: number,
) => {
  const entries = database
    .selectFrom("history")
    .select(["id", "at", "digest", "chain"])
    .where("environment_id", "=", environmentId);
  const before = await entries
    .where("id", "<", first)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const after = await entries.where("id", ">", last).orderBy("id").limit(1).executeTakeFirst();
  const within = await entries
    .where("id", ">=", first)
    .where("id", "<=", last)
    .orderBy("id")
    .execute();
  const checkpoints = await database
    .selectFrom("history_checkpoints")
    .select(["id as row", "entry_id as id", "statement", "key_id as keyId", "hmac"])
    .where("environment_id", "=", environmentId)
    .where("kind", "=", "pruned")
    .where("entry_id", ">", before?.id ?? 0)
    .where("entry_id", "<", after?.id ?? Number.MAX_SAFE_INTEGER)
    .execute();
  return { before, within, checkpoints };
};

/** Under the lock of the environment. */
export const deleteEntries = async (
  db: Db,
  environment: EnvironmentRef,
  ids: readonly number[],
  now: number,
): Promise<void> => {
  const { database, secrets } = db;
  const { id: environmentId, name } = environment;
  const deletable = new Set(ids);
  const [first, last] = [Math.min(...ids), Math.max(...ids)];
  const { before, within, checkpoints } = await entriesAround(db, environmentId, first, last);
  const isSigned = signedBy(secrets);
  // Whoever sets the time of an entry back has it deleted: that must not be signed as if nothing had happened.
  const changed = await changedEntries(db, isSigned, environment, ids);
  const gaps: OpenGap[] = [];
  const merged: number[] = [];
  let open: OpenGap | undefined;
  let chain = before?.chain ?? genesis;

  const close = () => {
    if (open) gaps.push(open);
    open = undefined;
  };
  const extend = (part: OpenGap) => {
    if (open && part.from === chain) {
      const lastAt = Math.max(open.lastAt, part.lastAt);
      open = { ...part, from: open.from, entries: open.entries + part.entries, lastAt };
    } else {
      close();
      open = part;
    }
    chain = part.to;
  };

  const among = [
    ...within.map((entry) => ({ ...entry, statement: null })),
    ...checkpoints.map((checkpoint) => ({ ...checkpoint, chain: null })),
  ].sort((a, b) => a.id - b.id);
  const removed: number[] = [];
  for (const each of among) {
    if (each.statement !== null) {
      const statement = readStatement(each.statement);
      const isOurs =
        isSigned({ type: "checkpoint", ...each }) &&
        statement?.kind === "pruned" &&
        statement.environment === name;
      if (isOurs) {
        merged.push(each.row);
        extend({ ...statement, id: each.id });
      } else {
        // What somebody else has put there is not signed by being taken over.
        close();
        chain = statement?.kind === "pruned" ? statement.to : chain;
      }
      continue;
    }
    if (!deletable.has(each.id) || each.chain === null || each.digest === null) {
      close();
      chain = each.chain ?? chain;
      continue;
    }
    removed.push(each.id);
    const follows = !changed.has(each.id) && chainAfter(chain, each.digest, sha256) === each.chain;
    const from = follows ? chain : nowhere;
    extend({ from, to: each.chain, entries: 1, lastAt: each.at, id: each.id });
  }
  close();

  if (removed.length === 0) return;
  await database.deleteFrom("history").where("id", "in", idList(removed)).execute();
  await database
    .deleteFrom("history_checkpoints")
    .where("environment_id", "=", environmentId)
    .where("kind", "=", "redacted")
    .where("entry_id", "in", idList(removed))
    .execute();
  await deleteCheckpoints(db, merged);
  for (const { id, from, to, entries, lastAt } of gaps) {
    const statement = { kind: "pruned", environment: name, at: now, from, to, entries, lastAt };
    await insertCheckpoint(db, environmentId, id, statement as PrunedStatement);
  }
};
