// API keys, as requests and responses carry them.
import type { ChangeRequest } from "./changes/change-requests.ts";
import type { Role, UserRef } from "./resources.ts";

export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
  /** From then on the server refuses it; without it, it does not expire. */
  readonly expiresAt?: string | null;
  /** Of a client key: the origins of the pages that may use it; without them, any client may. */
  readonly origins?: readonly string[] | null;
  /** Changes a protected environment without a change request; there, once another person has approved that. */
  readonly writesDirectly?: boolean;
  /** The limit on flips of what it changes, in percent. */
  readonly maxFlips?: number | null;
}

export interface ApiKey extends Required<Omit<NewApiKey, "writesDirectly" | "maxFlips">> {
  readonly writesDirectly?: boolean;
  /** Absent when there is none. */
  readonly maxFlips?: number;
  readonly id: string;
  readonly createdAt: string;
  /** To about a minute; null if it was never used. */
  readonly lastUsedAt: string | null;
  /** Whose personal key it is: it may do what both it and they may. */
  readonly user: UserRef | null;
}

export interface CreatedApiKey extends ApiKey {
  /** Returned only once. */
  readonly key: string;
  /** In a protected environment: what another person has to approve before the key writes directly. */
  readonly proposed?: ChangeRequest;
}

/** The key of the caller itself. */
export interface OwnApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly environment: string;
  /** Null when it does not expire. */
  readonly expiresAt: string | null;
  /** What it changes is proposed: the environment is protected. Absent when it is not so. */
  readonly proposes?: true;
}
