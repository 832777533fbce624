// Sessions of the dashboard: a random token in the browser, and in the store its hash with whom it speaks for.
import { createHash } from "node:crypto";
import {
  isOver,
  type SessionHolder,
  type SignInMethod,
  type StoredSession,
} from "../domain/sign-in.ts";
import type { Clock, RandomBytes, Store, Transaction } from "../ports.ts";

export interface Session extends Omit<StoredSession, "hash" | "usedAt"> {
  /** Known to the browser alone. */
  readonly token: string;
}

/** How a session begins. */
export interface NewSession extends SessionHolder {
  readonly method: SignInMethod;
  readonly address: string | null;
  readonly agent: string | null;
  /** Sealed: the id token of the provider that they have signed in with. */
  readonly providerToken?: Uint8Array;
  /** When they proved who they are; now, unless it was elsewhere. */
  readonly signedInAt?: Date;
}

export interface Sessions {
  /** A new session; the earlier one is over. Within a transaction, when one is given. */
  begin(
    session: NewSession,
    earlier: Session | undefined,
    transaction?: Transaction,
  ): Promise<Session>;
  /** The same session under a new token, in the place of the one that others may know. */
  renew(session: Session, change?: Partial<Pick<Session, "signedInAt">>): Promise<Session>;
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
const maxAgentLength = 300;

export const sessionHash = (token: string): Uint8Array =>
  createHash("sha256").update(token).digest();
const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSessions = (
  store: Store,
  {
    clock,
    random,
    idleTimeout,
  }: { readonly clock: Clock; readonly random: RandomBytes; readonly idleTimeout: number },
): Sessions => {
  const look = async (token: string): Promise<StoredSession | undefined> => {
    const stored = isToken(token) ? await store.session(sessionHash(token)) : undefined;
    return stored && !isOver(stored, idleTimeout, clock()) ? stored : undefined;
  };

  const newToken = (): string => random(32).toBase64({ alphabet: "base64url", omitPadding: true });

  const replace = async (
    transaction: Transaction,
    session: Session,
    earlier: Session | undefined,
  ): Promise<Session> => {
    const now = clock();
    if (earlier) await transaction.deleteSession(sessionHash(earlier.token));
    const { token, ...rest } = session;
    await transaction.insertSession({ ...rest, hash: sessionHash(token), usedAt: now }, now);
    return session;
  };

  return {
    begin(session, earlier, transaction) {
      const now = clock();
      const begun: Session = {
        ...session,
        agent: session.agent?.slice(0, maxAgentLength) ?? null,
        providerToken: session.providerToken ?? null,
        id: random(8).toHex(),
        token: newToken(),
        createdAt: now,
        signedInAt: session.signedInAt ?? now,
        endsAt: new Date(now.getTime() + lifetime),
      };
      return transaction
        ? replace(transaction, begun, earlier)
        : store.transact((own) => replace(own, begun, earlier));
    },

    renew(session, change) {
      const renewed = { ...session, ...change, token: newToken() };
      return store.transact((transaction) => replace(transaction, renewed, session));
    },

    async find(token) {
      const stored = await look(token);
      return stored && { ...stored, token };
    },

    async use(token) {
      const stored = await look(token);
      if (stored && clock().getTime() - stored.usedAt.getTime() >= usePrecision) {
        await store.sessionUsed(stored.hash, clock());
      }
      return stored && { ...stored, token };
    },

    keep: (session, keyIds) =>
      store.transact((transaction) =>
        transaction.updateSessionKeys(sessionHash(session.token), keyIds),
      ),

    end: (session) =>
      store.transact((transaction) => transaction.deleteSession(sessionHash(session.token))),
  };
};
