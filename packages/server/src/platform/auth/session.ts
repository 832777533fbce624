// Sessions of the dashboard, and links that sign in to it once, as a store keeps them.

/** What somebody has signed in with. */
export type SignInMethod = "key" | "link" | "password" | `oidc:${string}`;

/** Whom a session speaks for. */
export interface SessionHolder {
  /** The API keys that somebody has signed in with, one for each environment; none for a person. */
  readonly keyIds: readonly string[];
  /** The person; null for those who have signed in with keys. */
  readonly userId: string | null;
  /** The operator's link that started the session; null without a link. */
  readonly link: LinkKeys | null;
}

/** The keys with which a session manages people and environments, with the rights of an owner. */
export interface LinkKeys {
  /** Those that the link carried: when none of them is valid any more, the rights have ended. */
  readonly carried: readonly string[];
  /** Those of environments that were created with these rights. */
  readonly created: readonly string[];
}

export interface StoredSession extends SessionHolder {
  /** Of its token, which is not stored. */
  readonly hash: Uint8Array;
  /** What it is named by in lists; nobody can use it with that. */
  readonly id: string;
  readonly method: SignInMethod;
  readonly createdAt: Date;
  /** When the person last proved who they are. */
  readonly signedInAt: Date;
  /** From where, and with which browser, it began. */
  readonly address: string | null;
  readonly agent: string | null;
  /** Sealed: the id token of the provider that they have signed in with, for signing out there. */
  readonly providerToken: Uint8Array | null;
  /** About to the minute. */
  readonly usedAt: Date;
  readonly endsAt: Date;
  /** Whether the person may do more or less than when the token was made. */
  readonly hasNewRights: boolean;
}

export const isOver = (
  { usedAt, endsAt }: Pick<StoredSession, "usedAt" | "endsAt">,
  idleTimeout: number,
  now: Date,
): boolean => endsAt <= now || usedAt.getTime() + idleTimeout <= now.getTime();

export interface SignInLink {
  /** Of its token, which is not stored. */
  readonly hash: Uint8Array;
  /** The API keys that it signs in with; none for an invitation. */
  readonly keyIds: readonly string[];
  /** Whom it invites; null for a link of the operator. */
  readonly userId: string | null;
  /** The name of the person who invites; null when it is not a person. */
  readonly invitedBy: string | null;
  readonly expiresAt: Date;
}

export interface OpenInvitation {
  readonly userId: string;
  readonly invitedBy: string | null;
}
