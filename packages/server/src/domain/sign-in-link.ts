// Links that sign in to the dashboard once, as a store keeps them.

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
