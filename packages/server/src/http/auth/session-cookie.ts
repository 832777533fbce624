// What a session cookie holds, encrypted and authenticated, and the token that a page must show beside it.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from "node:crypto";
import type { Clock, RandomBytes } from "../../ports.ts";

export interface Session {
  readonly id: string;
  /** The API keys that somebody has signed in with: one for each environment, never their texts. */
  readonly keyIds: readonly string[];
  /** Milliseconds. */
  readonly endsAt: number;
}

export interface SessionCookies {
  /** Begins a session with these keys, or goes on with one; either way it lasts its full time from now. */
  begin(keyIds: readonly string[], earlier: Session | undefined): Session;
  seal(session: Session): string;
  /** Undefined when no instance of ours has made it, when it was changed or when it is over. */
  open(text: string): Session | undefined;
  /** What a request that changes something must carry beside the cookie: a foreign page cannot know it. */
  csrfToken(session: Session): string;
  isCsrfToken(session: Session, text: string): boolean;
}

const lifetime = 12 * 60 * 60 * 1_000;
/** What a browser keeps of one cookie has an end; older ones give way. */
const maxKeys = 100;
const maxLength = 4_000;
const format = 1;
const [ivAt, tagAt, contentAt] = [1, 13, 29];

type Keys = readonly [Uint8Array, ...Uint8Array[]];

const derive = (keys: Keys, purpose: string): readonly Buffer[] =>
  keys.map((key) => Buffer.from(hkdfSync("sha256", key, "", `halyard ${purpose}`, 32)));

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Made with the first key, accepted with any: while the keys are replaced, old and new instances understand each other. */
export const createSessionCookies = (
  keys: Keys,
  clock: Clock,
  random: RandomBytes,
): SessionCookies => {
  const sealing = derive(keys, "session cookie");
  const signing = derive(keys, "session request token");
  const tokenWith = (key: Buffer | undefined, { id }: Session): string =>
    createHmac("sha256", key ?? Buffer.of())
      .update(id)
      .digest("base64url");

  const decrypt = (key: Buffer, bytes: Buffer): string | undefined => {
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(ivAt, tagAt));
      decipher.setAuthTag(bytes.subarray(tagAt, contentAt));
      return decipher.update(bytes.subarray(contentAt), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  };

  return {
    begin: (keyIds, earlier) => ({
      id: earlier?.id ?? random(16).toBase64({ alphabet: "base64url", omitPadding: true }),
      keyIds: keyIds.slice(-maxKeys),
      endsAt: clock().getTime() + lifetime,
    }),

    seal({ id, keyIds, endsAt }) {
      const iv = random(tagAt - ivAt);
      const cipher = createCipheriv("aes-256-gcm", sealing[0] ?? Buffer.of(), iv);
      const content = Buffer.concat([
        cipher.update(JSON.stringify([id, endsAt, keyIds]), "utf8"),
        cipher.final(),
      ]);
      const bytes = Buffer.concat([Buffer.of(format), iv, cipher.getAuthTag(), content]);
      return bytes.toString("base64url");
    },

    open(text) {
      if (text.length > maxLength) return undefined;
      const bytes = Buffer.from(text, "base64url");
      // One text for one cookie: what the decoder passes over is not part of it.
      if (bytes.toString("base64url") !== text) return undefined;
      if (bytes.length <= contentAt || bytes[0] !== format) return undefined;
      for (const key of sealing) {
        const content = decrypt(key, bytes);
        if (content === undefined) continue;
        const [id, endsAt, keyIds] = JSON.parse(content) as [string, number, string[]];
        return endsAt > clock().getTime() ? { id, keyIds, endsAt } : undefined;
      }
      return undefined;
    },

    csrfToken: (session) => tokenWith(signing[0], session),
    isCsrfToken: (session, text) =>
      signing.some((key) => timingSafeEqual(digest(tokenWith(key, session)), digest(text))),
  };
};
