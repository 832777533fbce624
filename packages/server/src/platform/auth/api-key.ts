// API keys as stored: everything but the secret, of which only a hash exists.

import type { KeyRole, UserRef } from "./principal.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly createdAt: Date;
  /** About to the minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
  /** Null when it does not expire. */
  readonly expiresAt: Date | null;
  /** Of a client key: the origins of the pages that may use it; null for any client. */
  readonly origins: readonly string[] | null;
  /** Whose personal key it is: it may do what both it and they may. Null for keys of programs. */
  readonly user: UserRef | null;
  /** Whether it changes a protected environment without a change request. */
  readonly writesDirectly: boolean;
  /** The limit on flips of its changes, in percent; null for none. */
  readonly maxFlips: number | null;
  /** The id of the person who issued it, or who issued the key that issued it: they cannot approve what it proposes. Null for none. */
  readonly createdBy: string | null;
}

/** With the environment that it belongs to. */
export interface ApiKeyIn extends ApiKey {
  readonly environmentId: number;
}

export interface NewApiKey {
  readonly name: string;
  readonly role: KeyRole;
  readonly expiresAt?: Date | null;
  readonly origins?: readonly string[] | null;
  readonly user?: UserRef | null;
  readonly writesDirectly?: boolean;
  readonly maxFlips?: number | null;
}

export const isExpired = ({ expiresAt }: Pick<ApiKey, "expiresAt">, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now;

export interface NewKey extends ApiKey {
  readonly environmentId: number;
  readonly hash: Uint8Array;
  /** The operator has chosen its text, and may name it again: once revoked, it is never forgotten. */
  readonly isGiven: boolean;
}
