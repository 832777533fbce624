// Signs the manifest of a backup with a key that is derived from the secret key, so that nobody without it can change a backup unnoticed.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { keyIdOf } from "../secrets/secret-cipher.ts";

export interface Signature {
  /** Names the secret key; the same as in messages about webhook secrets. */
  readonly keyId: string;
  readonly hmac: string;
}

/** A key for this purpose alone. */
const signingKey = (secretKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secretKey, "", "halyard backup manifest", 32));

const nameOf = (secretKey: Uint8Array): string => keyIdOf(secretKey).toString("hex");

export const signText = (text: string, secretKey: Uint8Array): Signature => ({
  keyId: nameOf(secretKey),
  hmac: createHmac("sha256", signingKey(secretKey)).update(text).digest("hex"),
});

/** The key that the signature names. */
export const findSigner = (
  { keyId }: Signature,
  secretKeys: readonly Uint8Array[],
): Uint8Array | undefined => secretKeys.find((key) => nameOf(key) === keyId);

export const isSignedBy = (text: string, { hmac }: Signature, secretKey: Uint8Array): boolean =>
  timingSafeEqual(Buffer.from(signText(text, secretKey).hmac), Buffer.from(hmac));
