// The tables of people: accounts, what they sign in with, and sessions.
import type { Generated } from "kysely";

export interface PeopleTables {
  /** Links that sign in to the dashboard once; a used one is gone. */
  sign_in_links: {
    hash: Uint8Array;
    /** JSON: the ids of the keys that it signs in with. */
    key_ids: string;
    expires_at: number;
    /** Whom it invites; null for a link of the operator. */
    user_id: Generated<string | null>;
    /** The name of the person who invites. */
    invited_by: Generated<string | null>;
  };
  /** Sessions of the dashboard; an ended one is gone. */
  sessions: {
    hash: Uint8Array;
    /** JSON: the ids of the keys that it speaks for. */
    key_ids: string;
    /** About to the minute. */
    used_at: number;
    ends_at: number;
    /** What it is named by in lists; null for those of before there were any. */
    id: Generated<string | null>;
    /** Who has signed in; null for those who did with keys. */
    user_id: Generated<string | null>;
    /** 1 for those who came by a link of the operator. */
    owner: Generated<number>;
    created_at: Generated<number | null>;
    /** When the person last proved who they are. */
    signed_in_at: Generated<number | null>;
    /** When the person's rights had last changed when the token was made. */
    rights_at: Generated<number | null>;
    /** `password`, `link`, `key`, or `oidc:` and the provider's id. */
    method: Generated<string | null>;
    address: Generated<string | null>;
    agent: Generated<string | null>;
    /** Encrypted: the id token, which signing out at the provider asks for. */
    provider_token: Generated<Uint8Array | null>;
  };
  users: {
    id: string;
    name: string;
    email: string | null;
    /** The address as it is compared. */
    email_key: string | null;
    /** 1 for those who manage people and environments. */
    owner: number;
    /** 1 when a group of their provider made them one. */
    owner_from_group: Generated<number>;
    created_at: number;
    signed_in_at: number | null;
    /** When their rights last changed. */
    rights_at: number;
    /** The argon2id hash; null for those who have none. */
    password: string | null;
    /** Encrypted: the secret of their second factor. */
    totp: Uint8Array | null;
    /** The last time step whose code was used. */
    totp_step: Generated<number>;
    /** JSON: hashes of the recovery codes that are left. */
    recovery: string | null;
  };
  /** Who a provider says that a person is. */
  identities: {
    issuer: string;
    subject: string;
    user_id: string;
  };
}
