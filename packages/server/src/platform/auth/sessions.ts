// Sessions of the dashboard: a random token in the browser, and in the store its hash with whom it speaks for.
import { createHash } from "node:crypto";
import type { Clock, RandomBytes, Store, Transaction } from "../database/store.ts";
import { isOver, type SessionHolder, type SignInMethod, type StoredSession } from "./session.ts";
import {
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  listSessions,
  shortenSession,
  updateSessionKeys,
  updateSessionUse,
} from "./session-queries.ts";

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
  /** When it is over at the latest; a lifetime from now, unless it takes over from another. */
  readonly endsAt?: Date;
}

export interface Sessions {
  /** A new session; the earlier one is over. Within a transaction, when one is given. */
  begin(
    session: NewSession,
    earlier: Session | undefined,
    transaction?: Transaction,
  ): Promise<Session>;
  /** The same session under a new token, in the place of the one that others may know. */
  renew(
    session: Session,
    change?: Partial<Pick<Session, "signedInAt" | "method">>,
    transaction?: Transaction,
  ): Promise<Session>;
  /** The same session under a new token when the person's rights have changed; the old one is good for what is on its way. */
  refresh(session: Session): Promise<Session>;
  /** Undefined when there is none or it is over. */
  find(token: string): Promise<Session | undefined>;
  /** The same, and the session has been used now. */
  use(token: string): Promise<Session | undefined>;
  keep(session: Session, keys: Pick<Session, "keyIds" | "link">): Promise<void>;
  end(session: Session): Promise<void>;
  /** The person's that are not over, newest first. */
  list(userId: string): Promise<readonly StoredSession[]>;
  /** One of the person's, by its id. */
  endOne(userId: string, id: string): Promise<void>;
  /** Those of the person but this one. */
  endOthers(session: Session, transaction?: Transaction): Promise<void>;
  /** Whether the person proved who they are a short while ago. Sessions by keys and links are never asked. */
  isFresh(session: Session): boolean;
}

export interface SessionSettings {
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Milliseconds: without use, at most, and for which a sign-in counts as fresh. */
  readonly idleTimeout: number;
  readonly lifetime: number;
  readonly freshFor: number;
}

/** Those that one person has; beyond it the oldest is over. */
export const maxSessions = 50;
/** Milliseconds for which a token that was replaced because of new rights is good for what other tabs have sent. */
const handOver = 10_000;
/** A use is stored when the last one is this long ago, so that reading does not mean writing. */
const usePrecision = 60_000;
const maxAgentLength = 300;

export const sessionHash = (token: string): Uint8Array =>
  createHash("sha256").update(token).digest();
const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const createSessions = (
  store: Store,
  { clock, random, idleTimeout, lifetime, freshFor }: SessionSettings,
): Sessions => {
  const within = <T>(
    transaction: Transaction | undefined,
    callback: (transaction: Transaction) => Promise<T>,
  ): Promise<T> => (transaction ? callback(transaction) : store.transact(callback));

  const look = async (token: string): Promise<StoredSession | undefined> => {
    const stored = isToken(token) ? await findSession(store, sessionHash(token)) : undefined;
    return stored && !isOver(stored, idleTimeout, clock()) ? stored : undefined;
  };

  const newToken = (): string => random(32).toBase64({ alphabet: "base64url", omitPadding: true });

  const replace = async (
    transaction: Transaction,
    session: Session,
    earlier: Session | undefined,
  ): Promise<Session> => {
    const now = clock();
    if (earlier) await deleteSession(transaction, sessionHash(earlier.token));
    const { token, hasNewRights: _, ...rest } = session;
    await insertSession(transaction, { ...rest, hash: sessionHash(token), usedAt: now }, now);
    if (session.userId !== null) {
      await deleteSessions(transaction, session.userId, { beyond: maxSessions });
    }
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
        endsAt: session.endsAt ?? new Date(now.getTime() + lifetime),
        hasNewRights: false,
      };
      return within(transaction, (own) => replace(own, begun, earlier));
    },

    renew(session, change, transaction) {
      const renewed = { ...session, ...change, token: newToken(), hasNewRights: false };
      return within(transaction, (own) => replace(own, renewed, session));
    },

    async refresh(session) {
      const until = new Date(clock().getTime() + handOver);
      // One that ends so soon was given a new token a moment ago, or needs none.
      if (!session.hasNewRights || session.endsAt <= until) return session;
      const renewed = { ...session, token: newToken(), hasNewRights: false };
      return store.transact(async (transaction) => {
        const old = { hash: sessionHash(session.token), endsAt: session.endsAt };
        const isFirst = await shortenSession(transaction, old, until);
        return isFirst ? replace(transaction, renewed, undefined) : session;
      });
    },

    async find(token) {
      const stored = await look(token);
      return stored && { ...stored, token };
    },

    async use(token) {
      const stored = await look(token);
      if (stored && clock().getTime() - stored.usedAt.getTime() >= usePrecision) {
        const at = clock();
        await store.transactAsyncCommit((db) => updateSessionUse(db, stored.hash, at));
      }
      return stored && { ...stored, token };
    },

    keep: (session, keys) =>
      store.transact((transaction) =>
        updateSessionKeys(transaction, sessionHash(session.token), keys),
      ),

    end: (session) =>
      store.transact((transaction) => deleteSession(transaction, sessionHash(session.token))),

    async list(userId) {
      const now = clock();
      const open = (await listSessions(store, userId)).filter(
        (each) => !isOver(each, idleTimeout, now),
      );
      return [...new Map(open.map((each) => [each.id, each])).values()];
    },

    endOne: (userId, id) =>
      store.transact((transaction) => deleteSessions(transaction, userId, { id })),

    async endOthers({ userId, token }, transaction) {
      if (userId === null) return;
      const others = { except: sessionHash(token) };
      await within(transaction, (own) => deleteSessions(own, userId, others));
    },

    isFresh: ({ userId, signedInAt }) =>
      userId === null || clock().getTime() - signedInAt.getTime() < freshFor,
  };
};
