// Seals a plan into its id, so that no server has to keep it: only who has the same secret reads it, and only unaltered.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { PlanSeal } from "../dependencies.ts";

const prefix = "plan_";
const [tagAt, textAt] = [12, 28];
/** What a plan may take unpacked. */
const maxBytes = 512 * 1_024;
/** Characters: a model repeats them. */
export const maxIdLength = 100_000;

/** Sealed with the first secret, opened with any: secrets can be replaced while plans are out. */
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
      // Packed, because a model repeats the id character by character.
      const sealed = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()]);
      const id = prefix + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
      return id.length > maxIdLength ? undefined : id;
    },

    open(sealed) {
      const bytes = Buffer.from(sealed.slice(prefix.length), "base64url");
      // Other spellings of the same bytes would be other ids of the same plan, and it could be applied once with each.
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
