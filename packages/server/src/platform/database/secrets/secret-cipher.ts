// Encrypts secrets at rest, of webhooks and of second factors: AES-256-GCM, bound to their row. Signs what nobody else may write.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { Signature } from "@halyard/core/history/chain";
import { StartupProblem } from "../../errors.ts";

export interface SecretCipher {
  /** `owner` is the row that the secret belongs to. */
  seal(text: string, owner: string): Uint8Array;
  open(sealed: Uint8Array, owner: string): string;
  /** With a key that is derived from the newest one for this purpose alone. */
  sign(text: string, purpose: string): Signature;
  /** Undefined when the key that signed it is missing. */
  isSigned(text: string, signature: Signature, purpose: string): boolean | undefined;
}

const format = 1;
const [keyIdAt, ivAt, tagAt, textAt] = [1, 5, 17, 33];

/** Names a key without revealing it. */
export const keyIdOf = (key: Uint8Array): Buffer =>
  createHash("sha256").update(key).digest().subarray(0, 4);

const hmacOf = (text: string, key: Uint8Array, purpose: string): string =>
  createHmac("sha256", new Uint8Array(hkdfSync("sha256", key, "", purpose, 32)))
    .update(text)
    .digest("hex");

/** The first key encrypts; any of them decrypts, so that a key can be replaced without downtime. */
export const createSecretCipher = (keys: readonly [Uint8Array, ...Uint8Array[]]): SecretCipher => {
  /** The last decrypted secret of each owner: the worker needs the same ones again and again. */
  const opened = new Map<string, { readonly sealed: Buffer; readonly text: string }>();
  return {
    seal(text, owner) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv("aes-256-gcm", keys[0], iv);
      cipher.setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(format), keyIdOf(keys[0]), iv, cipher.getAuthTag(), sealed]);
    },

    open(sealed, owner) {
      const bytes = Buffer.from(sealed);
      const known = opened.get(owner);
      if (known?.sealed.equals(bytes)) return known.text;
      const name = bytes.subarray(keyIdAt, ivAt);
      const key = keys.find((candidate) => keyIdOf(candidate).equals(name));
      if (!key || bytes[0] !== format) {
        throw new StartupProblem(
          `A secret was encrypted with a key that is missing (${name.toString("hex")}): set HALYARD_SECRET_KEY to the key that was used, or restore the secret.key file of this database.`,
        );
      }
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(ivAt, tagAt));
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(tagAt, textAt));
      const text =
        decipher.update(bytes.subarray(textAt), undefined, "utf8") + decipher.final("utf8");
      if (opened.size >= maxOpened) opened.clear();
      opened.set(owner, { sealed: bytes, text });
      return text;
    },

    sign: (text, purpose) => ({
      keyId: keyIdOf(keys[0]).toString("hex"),
      hmac: hmacOf(text, keys[0], purpose),
    }),

    isSigned(text, { keyId, hmac }, purpose) {
      const key = keys.find((candidate) => keyIdOf(candidate).toString("hex") === keyId);
      if (!key) return undefined;
      const [given, right] = [Buffer.from(hmac), Buffer.from(hmacOf(text, key, purpose))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
};

const maxOpened = 10_000;

const ivLength = 12;
