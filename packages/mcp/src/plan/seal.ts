// Seals a plan into its id, so that no server has to store it. Only a server with the same secret can read it, and only unaltered.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { PlanSeal } from "../dependencies.ts";

const prefix = "plan_";
const [tagAt, textAt] = [12, 28];
/** The maximum size of an uncompressed plan. */
const maxBytes = 512 * 1_024;
/** In characters. The length is limited because models repeat the id. */
export const maxIdLength = 100_000;

/** Seals with the first secret and opens with any, so that secrets can be rotated while plans are pending. */
export const createPlanSeal = (secrets: readonly [Uint8Array, ...Uint8Array[]]): PlanSeal => {
  const derive = (secret: Uint8Array) =>
    Buffer.from(hkdfSync("sha256", secret, "", "halyard mcp plan", 32));
  const [newest, ...older] = secrets;
  const key = derive(newest);
  const keys = [key, ...older.map(derive)];

  return {
    seal(text) {
      if (Buffer.byteLength(text) > maxBytes) return undefined;
      const iv = randomBytes(tagAt);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      // Compressed, because models repeat the id character by character.
      const sealed = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()]);
      const id = prefix + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
      return id.length > maxIdLength ? undefined : id;
    },

    open(sealed) {
      const bytes = Buffer.from(sealed.slice(prefix.length), "base64url");
      // Other encodings of the same bytes would be different ids of one plan, which could then be applied once with each.
      if (sealed !== prefix + bytes.toString("base64url")) return undefined;
      if (bytes.length < textAt) return undefined;
      for (const each of keys) {
        try {
          const decipher = createDecipheriv("aes-256-gcm", each, bytes.subarray(0, tagAt));
          decipher.setAuthTag(bytes.subarray(tagAt, textAt));
          const packed = Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]);
          return inflateRawSync(packed, { maxOutputLength: maxBytes }).toString();
        } catch {
          // Sealed with another secret, or altered.
        }
      }
      return undefined;
    },
  };
};
