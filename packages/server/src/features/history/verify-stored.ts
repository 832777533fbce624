// Verifies the histories of a store, read from its tables.
import { createHistoryVerifier, type HistoryVerification } from "@halyard/core/history/verify";
import type { Db } from "../../platform/database/db.ts";
import type { SecretCipher } from "../../platform/database/secrets/secret-cipher.ts";
import { sha256 } from "../../platform/text-hash.ts";
import { findChainPart } from "./chain-queries.ts";
import { signedBy } from "./checkpoints.ts";

const verifyOne = async (
  db: Pick<Db, "database">,
  secrets: SecretCipher | undefined,
  { id, name }: { readonly id: number; readonly name: string },
): Promise<HistoryVerification> => {
  const verifier = createHistoryVerifier(sha256, { isSigned: signedBy(secrets) });
  verifier.add({ type: "history", format: 1, environment: name });
  for (let after: number | undefined = 0; after !== undefined; ) {
    const part = await findChainPart(db, id, after);
    for (const line of part?.parts ?? []) verifier.add(line);
    after = part?.next;
    if (part && after === undefined) verifier.add({ type: "end", head: part.head });
  }
  return verifier.end();
};

export const verifyStored = async (
  db: Pick<Db, "database">,
  secrets: SecretCipher | undefined,
): Promise<readonly HistoryVerification[]> => {
  const environments = await db.database
    .selectFrom("environments")
    .select(["id", "name"])
    .orderBy("name")
    .execute();
  const verified: HistoryVerification[] = [];
  for (const environment of environments) {
    const first = await verifyOne(db, secrets, environment);
    // A server may delete old entries meanwhile: only a break that is there twice is one.
    const found = first.problemCount === 0 ? first : await verifyOne(db, secrets, environment);
    verified.push(found);
  }
  return verified;
};
