// Passwords, second factors and recovery codes in SQL: hashes, and one secret that is encrypted.

import type { DatabaseTraits, SameSelect } from "../../../platform/database/schema/dialect.ts";
import type { Database } from "../../../platform/database/schema/tables.ts";
import type { SecretCipher } from "../../../platform/database/secrets/secret-cipher.ts";
import type { CredentialReads, Credentials, CredentialWrites } from "./credentials.ts";

const codesIn = (stored: string | null): string[] => JSON.parse(stored ?? "[]") as string[];

export const credentialReads = (
  database: Database,
  secrets: SecretCipher,
  lock: SameSelect = (query) => query,
): CredentialReads => ({
  async credentials(userId): Promise<Credentials | undefined> {
    const row = await database
      .selectFrom("users")
      .select(["password", "totp", "recovery"])
      .where("id", "=", userId)
      .$call(lock)
      .executeTakeFirst();
    if (!row) return undefined;
    const { password, totp, recovery } = row;
    return {
      password,
      secondFactor: totp && {
        secret: Uint8Array.fromHex(secrets.open(totp, userId)),
        isOn: recovery !== null,
        recoveryCodes: codesIn(recovery).length,
      },
    };
  },
});

export const hasPasswords = async (database: Database): Promise<boolean> => {
  const row = await database
    .selectFrom("users")
    .select("id")
    .where("password", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

export const credentialWrites = (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
): CredentialWrites => ({
  async setPassword(userId, password) {
    await database.updateTable("users").set({ password }).where("id", "=", userId).execute();
  },

  async setSecondFactor(userId, secret) {
    await database
      .updateTable("users")
      .set({
        totp: secret && secrets.seal(secret.toHex(), userId),
        totp_step: 0,
        recovery: null,
      })
      .where("id", "=", userId)
      .execute();
  },

  async setRecoveryCodes(userId, hashes) {
    await database
      .updateTable("users")
      .set({ recovery: JSON.stringify(hashes) })
      .where("id", "=", userId)
      .execute();
  },

  async takeCodeStep(userId, step) {
    const taken = await database
      .updateTable("users")
      .set({ totp_step: step })
      .where("id", "=", userId)
      .where("totp_step", "<", step)
      .returning("id")
      .executeTakeFirst();
    return taken !== undefined;
  },

  async takeRecoveryCode(userId, hash) {
    const row = await database
      .selectFrom("users")
      .select("recovery")
      .where("id", "=", userId)
      .$call(traits.locked)
      .executeTakeFirst();
    const codes = codesIn(row?.recovery ?? null);
    const left = codes.filter((code) => code !== hash);
    if (left.length === codes.length) return false;
    await database
      .updateTable("users")
      .set({ recovery: JSON.stringify(left) })
      .where("id", "=", userId)
      .execute();
    return true;
  },
});
