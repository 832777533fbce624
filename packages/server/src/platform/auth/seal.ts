// Seals a text so that only a server with the same secret key reads it, and only for the purpose that it was sealed for.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

export interface Seal {
  seal(text: string, purpose: string): Uint8Array<ArrayBuffer>;
  /** Undefined when it was not sealed here for this purpose, or was changed. */
  open(sealed: Uint8Array, purpose: string): string | undefined;
}

const [tagAt, textAt] = [12, 28];

/** Sealed with the first key, opened with any: keys can be replaced without downtime. */
export const createSeal = (keys: readonly [Uint8Array, ...Uint8Array[]]): Seal => {
  const derived = keys.map((key) =>
    Buffer.from(hkdfSync("sha256", key, "", "halyard sign-in", 32)),
  ) as [Buffer, ...Buffer[]];

  const openWith = (key: Buffer, bytes: Buffer, purpose: string): string | undefined => {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, tagAt));
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(tagAt, textAt));
      return decipher.update(bytes.subarray(textAt), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  };

  return {
    seal(text, purpose) {
      const iv = randomBytes(tagAt);
      const cipher = createCipheriv("aes-256-gcm", derived[0], iv);
      cipher.setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return new Uint8Array(Buffer.concat([iv, cipher.getAuthTag(), sealed]));
    },

    open(sealed, purpose) {
      const bytes = Buffer.from(sealed);
      if (bytes.length < textAt) return undefined;
      for (const key of derived) {
        const text = openWith(key, bytes, purpose);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
};
