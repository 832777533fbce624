// Checkpoints of history: written with a signature, and checked.
import { type Statement, statementText } from "@halyard/core/history/chain";
import type { IsSigned } from "@halyard/core/history/verify";
import type { Database } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";

/** What the key is derived for: a signature for one purpose is none for another. */
export const checkpointPurpose = "halyard history checkpoint";

export const insertCheckpoint = async (
  database: Database,
  secrets: SecretCipher,
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
  database: Database,
  ids: readonly number[],
): Promise<void> => {
  if (ids.length === 0) return;
  await database.deleteFrom("history_checkpoints").where("id", "in", ids).execute();
};

export const signedBy =
  (secrets: SecretCipher | undefined): IsSigned =>
  ({ statement, keyId, hmac }) =>
    secrets?.isSigned(statement, { keyId, hmac }, checkpointPurpose);
