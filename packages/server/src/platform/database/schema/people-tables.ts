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
    /** What it is named by in lists. */
    id: string;
    /** Who has signed in; null for those who did with keys. */
    user_id: string | null;
    /** JSON: the keys with the rights of the operator's link; null for sessions without a link. */
    link_keys: string | null;
    created_at: number;
    /** When the person last proved who they are. */
    signed_in_at: number;
    /** When the person's rights had last changed when the token was made; null for keys. */
    rights_at: number | null;
    /** `password`, `link`, `key`, or `oidc:` and the provider's id. */
    method: string;
    address: string | null;
    agent: string | null;
    /** Encrypted: the id token, which signing out at the provider asks for. */
    provider_token: Uint8Array | null;
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
  /** What belongs to the whole store: one row. */
  installation: {
    id: string;
    /** Encrypted: the key of the hashes of addresses. */
    address_key: Uint8Array;
  };
  /** Keyed hashes of the addresses that an account has or had. */
  user_addresses: {
    user_id: string;
    hash: string;
    /** The account that had the address first keeps the roles of its groups. */
    since: number;
  };
  /** Accounts that an owner declared to belong to one human; rows outlive their account. */
  linked_accounts: {
    user_id: string;
    /** The same for all accounts of one human. */
    human: string;
  };
  /** Who a provider says that a person is. */
  identities: {
    issuer: string;
    subject: string;
    user_id: string;
  };
}
