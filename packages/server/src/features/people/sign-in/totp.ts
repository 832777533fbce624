// Codes of a second factor (RFC 6238: SHA-1, 30 seconds, six digits, as every app has them), and recovery codes.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "../../../platform/database/store.ts";

const period = 30_000;
/** Of the app and of the server, clocks differ by this many steps at most. */
const drift = 1;
const secretLength = 20;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648, without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return Array.from(
    bits.matchAll(/.{1,5}/g),
    ([five]) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)],
  ).join("");
};

export const newSecret = (random: RandomBytes): Uint8Array => random(secretLength);

/** What an app reads from a QR code. */
export const secretUri = (secret: Uint8Array, issuer: string, account: string): string =>
  `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`;

export const stepAt = (at: Date): number => Math.floor(at.getTime() / period);

export const codeAt = (secret: Uint8Array, step: number, digits = 6): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hmac = createHmac("sha1", secret).update(counter).digest();
  const offset = (hmac.at(-1) ?? 0) & 0x0f;
  const number = hmac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, "0");
};

/** The step whose code it is; undefined when it is none of about now. */
export const stepOf = (secret: Uint8Array, code: string, now: Date): number | undefined => {
  const current = stepAt(now);
  const steps = Array.from({ length: 2 * drift + 1 }, (_, at) => current + drift - at);
  // All of them are compared, so that the time tells nothing.
  const [step] = steps.filter((each) =>
    timingSafeEqual(Buffer.from(codeAt(secret, each)), Buffer.from(code)),
  );
  return step;
};

export const recoveryCodeCount = 10;
/** 80 random bits: nobody finds them from their hash. */
const recoveryCodeLength = 10;

export const newRecoveryCode = (random: RandomBytes): string =>
  base32(random(recoveryCodeLength)).toLowerCase().match(/.{4}/g)?.join("-") ?? "";

/** However it was typed. The id of the person is in it, so that equal codes have different hashes. */
export const recoveryCodeHash = (userId: string, code: string): string =>
  createHash("sha256")
    .update(`${userId} ${code.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`)
    .digest("hex");

/** As an app shows it, with or without a gap; undefined when it is a recovery code, or neither. */
export const appCode = (text: string): string | undefined =>
  /^\d{3}\s?\d{3}$/.test(text.trim()) ? text.replaceAll(/\s/g, "") : undefined;
