// Sessions of the dashboard: a random token in the browser, and in the store its hash with the keys that it speaks for.
import { createHash } from "node:crypto";
import { isOver } from "../domain/sign-in.ts";
import type { Clock, RandomBytes, Store } from "../ports.ts";

export interface Session {
  /** Known to the browser alone. */
  readonly token: string;
  /** The API keys that somebody has signed in with: one for each environment. */
  readonly keyIds: readonly string[];
  readonly endsAt: Date;
}

export interface Sessions {
  /** A new session with these keys; the earlier one is over. */
  begin(keyIds: readonly string[], earlier: Session | undefined): Promise<Session>;
  /** Undefined when there is none or it is over. */
  find(token: string): Promise<Session | undefined>;
  /** The same, and the session has been used now. */
  use(token: string): Promise<Session | undefined>;
  keep(session: Session, keyIds: readonly string[]): Promise<void>;
  end(session: Session): Promise<void>;
}

const lifetime = 12 * 60 * 60 * 1_000;
/** A use is stored when the last one is this long ago, so that reading does not mean writing. */
const usePrecision = 60_000;

const hashOf = (token: string): Uint8Array => createHash("sha256").update(token).digest();
const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSessions = (
  store: Store,
  {
    clock,
    random,
    idleTimeout,
  }: { readonly clock: Clock; readonly random: RandomBytes; readonly idleTimeout: number },
): Sessions => {
  const look = async (token: string) => {
    const stored = isToken(token) ? await store.session(hashOf(token)) : undefined;
    return stored && !isOver(stored, idleTimeout, clock()) ? stored : undefined;
  };

  return {
    begin: (keyIds, earlier) =>
      store.transact(async (transaction) => {
        const now = clock();
        const token = random(32).toBase64({ alphabet: "base64url", omitPadding: true });
        const endsAt = new Date(now.getTime() + lifetime);
        if (earlier) await transaction.deleteSession(hashOf(earlier.token));
        await transaction.insertSession({ hash: hashOf(token), keyIds, usedAt: now, endsAt }, now);
        return { token, keyIds, endsAt };
      }),

    async find(token) {
      const stored = await look(token);
      return stored && { token, ...stored };
    },

    async use(token) {
      const stored = await look(token);
      if (stored && clock().getTime() - stored.usedAt.getTime() >= usePrecision) {
        await store.sessionUsed(stored.hash, clock());
      }
      return stored && { token, ...stored };
    },

    keep: (session, keyIds) =>
      store.transact((transaction) => transaction.updateSessionKeys(hashOf(session.token), keyIds)),

    end: (session) =>
      store.transact((transaction) => transaction.deleteSession(hashOf(session.token))),
  };
};
