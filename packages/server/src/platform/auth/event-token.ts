// Short-lived tokens for event streams: an EventSource sends no headers, so what it may follow stands in its address.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Clock } from "../database/store.ts";
import type { Principal } from "./principal.ts";

/** What a token stands for; whether its key is still good is another question. */
export interface TokenHolder {
  readonly environmentId: number;
  readonly keyId: string;
}

export interface EventTokens {
  /**
   * The same text for the same key within one period, and good for one to two periods. So an answer that holds it changes
   * once in a period: an entity tag over the whole answer, address included, renews it in time.
   */
  eventToken(principal: Principal): string;
  /** Who got this token from any instance; undefined when it was not made here, was changed or is over. */
  verify(token: string): TokenHolder | undefined;
}

const period = 3_600_000;
const format = 1;
const signatureLength = 16;
/** Format, environment, end in seconds; then the key's id and the signature. */
const [environmentAt, endAt, keyAt] = [1, 5, 9];
const maxLength = 400;

/** Signed with the first key, accepted with any: while the keys are replaced, old and new instances understand each other. */
export const createEventTokens = (
  keys: readonly [Uint8Array, ...Uint8Array[]],
  clock: Clock,
): EventTokens => {
  const derived = keys.map((key) =>
    Buffer.from(hkdfSync("sha256", key, "", "halyard event stream token", 32)),
  );
  const sign = (key: Buffer, content: Uint8Array): Buffer =>
    createHmac("sha256", key).update(content).digest().subarray(0, signatureLength);
  /** The last token of each: every bulk evaluation asks for it. */
  const last = new WeakMap<Principal, { readonly end: number; readonly token: string }>();

  return {
    eventToken(principal) {
      const end = (Math.floor(clock().getTime() / period) + 2) * period;
      const known = last.get(principal);
      if (known?.end === end) return known.token;
      const { environment, keyId } = principal;
      const content = Buffer.alloc(keyAt + Buffer.byteLength(keyId));
      content.writeUInt8(format);
      content.writeUInt32BE(environment.id, environmentAt);
      content.writeUInt32BE(end / 1_000, endAt);
      content.write(keyId, keyAt);
      const [newest = Buffer.of()] = derived;
      const token = Buffer.concat([content, sign(newest, content)]).toString("base64url");
      last.set(principal, { end, token });
      return token;
    },

    verify(token) {
      if (token.length > maxLength) return undefined;
      const bytes = Buffer.from(token, "base64url");
      // One text for one token: what the decoder passes over is not part of it.
      if (bytes.toString("base64url") !== token) return undefined;
      if (bytes.length <= keyAt + signatureLength || bytes[0] !== format) return undefined;
      const content = bytes.subarray(0, -signatureLength);
      const signature = bytes.subarray(-signatureLength);
      if (!derived.some((key) => timingSafeEqual(sign(key, content), signature))) return undefined;
      if (content.readUInt32BE(endAt) * 1_000 <= clock().getTime()) return undefined;
      return {
        environmentId: content.readUInt32BE(environmentAt),
        keyId: content.toString("utf8", keyAt),
      };
    },
  };
};
