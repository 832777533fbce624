// Links that sign in to the dashboard once, as a store keeps them.

export interface SignInLink {
  /** Of its token, which is kept nowhere. */
  readonly hash: Uint8Array;
  /** The API keys that it stands for. */
  readonly keyIds: readonly string[];
  readonly expiresAt: Date;
}

/** The part of a transaction that keeps them. */
export interface SignInLinkWrites {
  /** Those that are over go with it. */
  insertSignInLink(link: SignInLink, now: Date): Promise<void>;
  /** The ids of its keys; from then on it is gone. Undefined when there is none or it is over. */
  takeSignInLink(hash: Uint8Array, now: Date): Promise<readonly string[] | undefined>;
}
