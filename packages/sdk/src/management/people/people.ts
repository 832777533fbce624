// People and their personal keys, as requests and responses contain them.
import type { ApiKey } from "../api-keys.ts";
import type { Role } from "../resources.ts";

/** Of a person in one environment. */
export type PersonRole = "viewer" | "editor" | "admin";

export interface NewUser {
  readonly name: string;
  readonly email?: string | null;
  /** Manages people and environments, and has every permission in every environment. */
  readonly owner?: boolean;
  /** By the name of the environment; not for an owner. */
  readonly roles?: Readonly<Record<string, PersonRole>>;
}

export interface UserPatch extends Partial<Omit<NewUser, "roles">> {
  /** By the name of the environment; null removes the role, and other environments are unaffected. */
  readonly roles?: Readonly<Record<string, PersonRole | null>>;
}

/** A person with an account. */
export interface User extends Required<NewUser> {
  readonly id: string;
  readonly state: "invited" | "active";
  readonly createdAt: string;
  readonly signedInAt: string | null;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The issuers of the providers that they sign in with. */
  readonly providers: readonly string[];
  /** The ids of the accounts that an owner linked: they belong to the same human. */
  readonly linked: readonly string[];
  /** The ids of the accounts that have, or had, the same email address. */
  readonly sameAddress: readonly string[];
}

/** A link that works once, for one person. */
export interface Invitation {
  /** Returned only once. */
  readonly url: string;
  readonly expiresAt: string;
}

export interface InvitedUser extends User {
  readonly invitation: Invitation;
}

export interface NewPersonalKey {
  readonly name: string;
  /** At most the role of the person. */
  readonly role: Exclude<Role, "owner">;
  /** At most a year from now. */
  readonly expiresAt: string;
}

export type PersonalKey = ApiKey;
