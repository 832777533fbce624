// Addresses that accounts have or had, compared by keyed hashes. The key is encrypted with the secret key.
import { createHmac, randomBytes } from "node:crypto";
import type { Db, Tx } from "../../platform/database/db.ts";
import { SecretKeyMissing } from "../../platform/errors.ts";
import { emailKeyOf } from "./user.ts";

/** The only row of its table. */
const installation = "installation";
/** Rows in one statement. */
const batch = 500;

const hashOf = (emailKey: string, key: string): string =>
  createHmac("sha256", key).update(emailKey).digest("hex");

type Handle = Pick<Db, "database" | "secrets">;

const insertHashes = async (
  { database }: Handle,
  hashes: readonly { readonly user_id: string; readonly hash: string; readonly since: number }[],
): Promise<void> => {
  for (let at = 0; at < hashes.length; at += batch) {
    await database
      .insertInto("user_addresses")
      .values(hashes.slice(at, at + batch))
      .onConflict((conflict) => conflict.columns(["user_id", "hash"]).doNothing())
      .execute();
  }
};

/** Undefined when none was made yet. Throws SecretKeyMissing if it can't be decrypted. */
export const readAddressKey = async ({
  database,
  secrets,
}: Handle): Promise<string | undefined> => {
  const row = await database
    .selectFrom("installation")
    .select("address_key")
    .where("id", "=", installation)
    .executeTakeFirst();
  if (!row) return undefined;
  try {
    return secrets.open(row.address_key, installation);
  } catch (error) {
    throw new SecretKeyMissing(
      "Halyard can't compare the addresses of accounts here: the secret key that they are protected with is missing. Add it to HALYARD_SECRET_KEY, or restore the secret.key file of this database. If the key is lost, run halyard secrets reencrypt --lost-address-key.",
      { cause: error },
    );
  }
};

/** With the hashes of the addresses that accounts have by then, unless another instance was faster. */
const makeKey = async (db: Handle): Promise<void> => {
  const { database, secrets } = db;
  const key = randomBytes(32).toString("base64");
  const made = await database
    .insertInto("installation")
    .values({ id: installation, address_key: secrets.seal(key, installation) })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!made) return;
  const users = await database
    .selectFrom("users")
    .select(["id", "email_key", "created_at"])
    .where("email_key", "is not", null)
    .execute();
  const hashes = users.map(({ id, email_key, created_at }) => ({
    user_id: id,
    hash: hashOf(email_key ?? "", key),
    since: created_at,
  }));
  await insertHashes(db, hashes);
};

/** Made when it is first needed. Throws SecretKeyMissing when this instance can't hash addresses as the others do. */
export const ensureAddressKey = async (tx: Tx): Promise<string> => {
  const known = await readAddressKey(tx);
  if (known !== undefined) return known;
  await makeKey(tx);
  return ensureAddressKey(tx);
};

/** The account has this address, or has had it. */
export const rememberAddress = async (
  tx: Tx,
  userId: string,
  email: string,
  at: Date,
): Promise<void> => {
  const hash = hashOf(emailKeyOf(email), await ensureAddressKey(tx));
  await insertHashes(tx, [{ user_id: userId, hash, since: at.getTime() }]);
};

/**
 * Makes a new key if the key can't be decrypted and the operator said that it is lost; otherwise throws
 * SecretKeyMissing. Returns whether earlier addresses were lost with the key.
 */
export const replaceLostKey = async (db: Handle, isLost: boolean): Promise<boolean> => {
  const { database } = db;
  try {
    await readAddressKey(db);
    return false;
  } catch (error) {
    if (!isLost || !(error instanceof SecretKeyMissing)) throw error;
  }
  await database.deleteFrom("user_addresses").execute();
  await database.deleteFrom("installation").where("id", "=", installation).execute();
  await makeKey(db);
  return true;
};
