// Checkpoints of history: written with a signature, and checked.
import { type Statement, statementText } from "@halyard/core/history/chain";
import type { IsSigned } from "@halyard/core/history/verify";
import type { Db } from "../../platform/database/db.ts";
import type { SecretCipher } from "../../platform/database/secrets/secret-cipher.ts";

/** What the key is derived for: a signature for one purpose is none for another. */
export const checkpointPurpose = "halyard history checkpoint";

export const insertCheckpoint = async (
  { database, secrets }: Db,
  environmentId: number,
  entryId: number,
  statement: Statement,
): Promise<void> => {
  const text = statementText(statement);
  const { keyId, hmac } = secrets.sign(text, checkpointPurpose);
  await database
    .insertInto("history_checkpoints")
    .values({
      environment_id: environmentId,
      entry_id: entryId,
      kind: statement.kind,
      statement: text,
      key_id: keyId,
      hmac,
    })
    .execute();
};

export const deleteCheckpoints = async (
  { database }: Db,
  ids: readonly number[],
): Promise<void> => {
  if (ids.length === 0) return;
  await database.deleteFrom("history_checkpoints").where("id", "in", ids).execute();
};

/** With keys at hand, one that names another key is not signed: anybody can name a key that nobody has. */
export const signedBy =
  (secrets: SecretCipher | undefined): IsSigned =>
  ({ statement, keyId, hmac }) =>
    secrets && secrets.isSigned(statement, { keyId, hmac }, checkpointPurpose) === true;

/** With the newest key; those that no key of ours has signed stay as they are. */
export const signCheckpointsAnew = async ({ database, secrets }: Db): Promise<void> => {
  for (let last = 0; ; ) {
    const rows = await database
      .selectFrom("history_checkpoints")
      .select(["id", "statement", "key_id", "hmac"])
      .where("id", ">", last)
      .orderBy("id")
      .limit(500)
      .execute();
    for (const { id, statement, key_id, hmac } of rows) {
      if (!secrets.isSigned(statement, { keyId: key_id, hmac }, checkpointPurpose)) continue;
      const signed = secrets.sign(statement, checkpointPurpose);
      await database
        .updateTable("history_checkpoints")
        .set({ key_id: signed.keyId, hmac: signed.hmac })
        .where("id", "=", id)
        .execute();
    }
    const next = rows.at(-1)?.id;
    if (next === undefined) return;
    last = next;
  }
};
