// Sign-in in SQL: passwords, second factors and recovery codes as hashes and one encrypted secret, and sign-in links.
import type { OpenInvitation, SignInLink } from "../../../platform/auth/session.ts";
import type { Db, Tx } from "../../../platform/database/db.ts";
import { auditUser } from "../audit-user.ts";
import type { Credentials } from "./credentials.ts";

const codesIn = (stored: string | null): string[] => JSON.parse(stored ?? "[]") as string[];

/** In a transaction: locked until its end. */
export const findCredentials = async (
  { database, secrets, locked }: Db,
  userId: string,
): Promise<Credentials | undefined> => {
  const row = await database
    .selectFrom("users")
    .select(["password", "totp", "recovery"])
    .where("id", "=", userId)
    .$call(locked)
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
};

/** Whether anybody signs in with a password. */
export const hasPasswords = async ({ database }: Db): Promise<boolean> => {
  const row = await database
    .selectFrom("users")
    .select("id")
    .where("password", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

export const setPassword = async (
  { database }: Tx,
  userId: string,
  password: string,
): Promise<void> => {
  await database.updateTable("users").set({ password }).where("id", "=", userId).execute();
};

/** A second factor that is not on yet; null removes what there is. */
export const setSecondFactor = async (
  { database, secrets }: Tx,
  userId: string,
  secret: Uint8Array | null,
): Promise<void> => {
  await database
    .updateTable("users")
    .set({
      totp: secret && secrets.seal(secret.toHex(), userId),
      totp_step: 0,
      recovery: null,
    })
    .where("id", "=", userId)
    .execute();
};

/** In the place of those before. With them the second factor is on. */
export const setRecoveryCodes = async (
  { database }: Tx,
  userId: string,
  hashes: readonly string[],
): Promise<void> => {
  await database
    .updateTable("users")
    .set({ recovery: JSON.stringify(hashes) })
    .where("id", "=", userId)
    .execute();
};

/** Whether no code of this time step, or of a later one, was used before. */
export const takeCodeStep = async (
  { database }: Tx,
  userId: string,
  step: number,
): Promise<boolean> => {
  const taken = await database
    .updateTable("users")
    .set({ totp_step: step })
    .where("id", "=", userId)
    .where("totp_step", "<", step)
    .returning("id")
    .executeTakeFirst();
  return taken !== undefined;
};

/** Whether there was such a recovery code; from now on there is none. */
export const takeRecoveryCode = async (
  { database, locked }: Tx,
  userId: string,
  hash: string,
): Promise<boolean> => {
  const row = await database
    .selectFrom("users")
    .select("recovery")
    .where("id", "=", userId)
    .$call(locked)
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
};

/** Undefined when the link is no invitation or has expired. In a transaction: locked. */
export const findInvitation = async (
  { database, locked }: Db,
  hash: Uint8Array,
  now: Date,
): Promise<OpenInvitation | undefined> => {
  const row = await database
    .selectFrom("sign_in_links")
    .select(["user_id", "invited_by", "expires_at"])
    .where("hash", "=", hash)
    .$call(locked)
    .executeTakeFirst();
  return row?.user_id && row.expires_at > now.getTime()
    ? { userId: row.user_id, invitedBy: row.invited_by }
    : undefined;
};

/** Also deletes expired ones. */
export const insertSignInLink = async (
  tx: Tx,
  { hash, keyIds, userId, invitedBy, expiresAt }: SignInLink,
  now: Date,
): Promise<void> => {
  const { database } = tx;
  if (userId !== null) auditUser(tx, "invited", userId);
  await database.deleteFrom("sign_in_links").where("expires_at", "<=", now.getTime()).execute();
  await database
    .insertInto("sign_in_links")
    .values({
      hash,
      key_ids: JSON.stringify(keyIds),
      user_id: userId,
      invited_by: invitedBy,
      expires_at: expiresAt.getTime(),
    })
    .execute();
};

/** Deletes a link of the operator and returns the keys that it is good for; undefined when there is none or it has expired. */
export const takeSignInLink = async (
  { database }: Tx,
  hash: Uint8Array,
  now: Date,
): Promise<readonly string[] | undefined> => {
  // Deleting the row uses the link, so that only one request can.
  const row = await database
    .deleteFrom("sign_in_links")
    .where("hash", "=", hash)
    // An invitation is not a key: it is accepted in another place.
    .where("user_id", "is", null)
    .returning(["key_ids", "expires_at"])
    .executeTakeFirst();
  return row && row.expires_at > now.getTime() ? (JSON.parse(row.key_ids) as string[]) : undefined;
};

/** The invitations of a person are no longer good. */
export const deleteInvitations = async ({ database }: Tx, userId: string): Promise<void> => {
  await database.deleteFrom("sign_in_links").where("user_id", "=", userId).execute();
};
