// Sessions of the dashboard, and links that sign in to it once, as a store keeps them.

export interface StoredSession {
  /** Of its token, which is not stored. */
  readonly hash: Uint8Array;
  /** The API keys that it speaks for, one for each environment. */
  readonly keyIds: readonly string[];
  /** About to the minute. */
  readonly usedAt: Date;
  readonly endsAt: Date;
}

/** The part of a transaction that stores them. */
export interface SessionWrites {
  /** Also deletes those that have ended. */
  insertSession(session: StoredSession, now: Date): Promise<void>;
  updateSessionKeys(hash: Uint8Array, keyIds: readonly string[]): Promise<void>;
  deleteSession(hash: Uint8Array): Promise<void>;
}

export const isOver = (
  { usedAt, endsAt }: StoredSession,
  idleTimeout: number,
  now: Date,
): boolean => endsAt <= now || usedAt.getTime() + idleTimeout <= now.getTime();

export interface SignInLink {
  /** Of its token, which is not stored. */
  readonly hash: Uint8Array;
  /** The API keys that it signs in with. */
  readonly keyIds: readonly string[];
  readonly expiresAt: Date;
}

/** The part of a transaction that stores them. */
export interface SignInLinkWrites {
  /** Also deletes expired ones. */
  insertSignInLink(link: SignInLink, now: Date): Promise<void>;
  /** Deletes the link and returns the ids of its keys; undefined when there is none or it has expired. */
  takeSignInLink(hash: Uint8Array, now: Date): Promise<readonly string[] | undefined>;
}
