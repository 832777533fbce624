// Replaces a person's name and address in the entries of an environment. The digests stay; signed checkpoints say what changed.
import { type RedactedStatement, readStatement } from "@halyard/core/history/chain";
import { operator } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import { appendEntry, lockHead } from "../../platform/database/schema/chain.ts";
import { historyRow, storedColumns, storedOf } from "../../platform/database/schema/history-row.ts";
import type { Store } from "../../platform/database/store.ts";
import { contentDigest } from "../../writes/chained-entry.ts";
import type { RedactedEntries } from "../../writes/history-entry.ts";
import { deleteCheckpoints, insertCheckpoint, signedBy } from "./checkpoints.ts";
import { createRedact, type RedactedPerson } from "./redaction.ts";

/** Entries looked at in one transaction. */
const batch = 200;

export interface RedactionPart {
  /** The number after which the next part begins; undefined at the end. */
  readonly next: number | undefined;
  readonly redacted: readonly number[];
  /** Those that do not say what their digest was made of: they are left as they are. */
  readonly refused: readonly number[];
}

interface Redaction {
  readonly environmentId: number;
  readonly person: RedactedPerson;
  readonly now: Date;
}

/** Under the lock of the environment, a few entries at a time. */
export const redactPart = async (
  db: Db,
  { environmentId, person, now }: Redaction,
  after: number,
): Promise<RedactionPart> => {
  const { database, dialect, secrets } = db;
  const head = await lockHead(database, dialect, environmentId);
  if (!head) return { next: undefined, redacted: [], refused: [] };
  const rows = await database
    .selectFrom("history")
    .select(storedColumns)
    .select(["digest", "chain"])
    .where("environment_id", "=", environmentId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(batch)
    .execute();
  const redact = createRedact(person);
  const isSigned = signedBy(secrets);
  const [redacted, refused]: [number[], number[]] = [[], []];
  for (const row of rows) {
    const { id, ...entry } = storedOf(row);
    const changed = redact(entry);
    if (changed === entry || row.digest === null || row.chain === null) continue;
    const earlier = await database
      .selectFrom("history_checkpoints")
      .select(["id as row", "entry_id as id", "statement", "key_id as keyId", "hmac"])
      .where("environment_id", "=", environmentId)
      .where("entry_id", "=", id)
      .where("kind", "=", "redacted")
      .execute();
    const present = contentDigest(entry, head.name);
    const isAllowed = earlier.some((each) => {
      const statement = readStatement(each.statement);
      const isOurs = isSigned({ type: "checkpoint", ...each });
      return isOurs && statement?.kind === "redacted" && statement.content === present;
    });
    if (present !== row.digest && !isAllowed) {
      refused.push(id);
      continue;
    }
    const written = { ...changed, digest: row.digest, chain: row.chain };
    const columns = historyRow(environmentId, (name) => written[name]);
    await database.updateTable("history").set(columns).where("id", "=", id).execute();
    await deleteCheckpoints(
      db,
      earlier.map((each) => each.row),
    );
    const statement: RedactedStatement = {
      kind: "redacted",
      environment: head.name,
      at: now.getTime(),
      chain: row.chain,
      digest: row.digest,
      content: contentDigest(changed, head.name),
    };
    await insertCheckpoint(db, environmentId, id, statement);
    redacted.push(id);
  }
  return { next: rows.length === batch ? rows.at(-1)?.id : undefined, redacted, refused };
};

/** Every name that the history knows a person by. */
const listNames = async ({ database }: Db, id: string): Promise<string[]> => {
  const rows = await database
    .selectFrom("history")
    .select("actor_user_name as name")
    .distinct()
    .where("actor_user_id", "=", id)
    .execute();
  return rows.flatMap(({ name }) => name ?? []);
};

/** In every environment. What was done is an entry of its own. */
export const redactHistory = async (
  store: Store,
  given: RedactedPerson,
  now: Date,
): Promise<readonly RedactedEntries[]> => {
  const { id } = given;
  const { environments, names } = await store.transact(async (transaction) => ({
    environments: await transaction.database
      .selectFrom("environments")
      .select(["id", "name"])
      .orderBy("name")
      .execute(),
    names: id === undefined ? [] : await listNames(transaction, id),
  }));
  const person = { ...given, names: [...new Set([...given.names, ...names])] };
  const results: RedactedEntries[] = [];
  for (const { id: environmentId, name } of environments) {
    const [redacted, refused]: [number[], number[]] = [[], []];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      const part = await store.transact((transaction) =>
        redactPart(transaction, { environmentId, person, now }, from),
      );
      redacted.push(...part.redacted);
      refused.push(...part.refused);
      after = part.next;
    }
    results.push({ environment: name, redacted, refused });
    if (redacted.length === 0) continue;
    await store.transact(async ({ database, dialect }) => {
      const head = await lockHead(database, dialect, environmentId);
      if (!head) return;
      await appendEntry(database, environmentId, head, {
        subject: "environment",
        subjectId: name,
        version: null,
        at: now,
        actor: operator,
        actions: ["environment.history_redacted"],
        before: null,
        after: { entries: redacted.length },
      });
    });
  }
  return results;
};
