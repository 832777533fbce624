// API keys, as requests and responses contain them.
import type { ChangeRequest } from "./changes/change-requests.ts";
import type { Role, UserRef } from "./resources.ts";

export interface NewApiKey {
  readonly name: string;
  readonly role: Role;
  /** When the key stops working; without it, the key does not expire. */
  readonly expiresAt?: string | null;
  /** The origins of the pages that can use a client key; without them, any client can. */
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
  /** The owner of a personal key, which has only the permissions that the key and its owner both have. */
  readonly user: UserRef | null;
}

export interface CreatedApiKey extends ApiKey {
  /** Returned only once. */
  readonly key: string;
  /** In a protected environment: what another person must approve before the key bypasses approval. */
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
  /** The environment is protected, so its changes become change requests. Absent otherwise. */
  readonly proposes?: true;
}
