// People: their accounts, and what they may do where.

import { lesserRole, type PersonRole, type UserRef } from "../../platform/auth/principal.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";

export interface User extends UserRef {
  readonly email: string | null;
  /** Manages people and environments, and is an admin of every environment. */
  readonly isOwner: boolean;
  /** A group of their provider made them one, and may take it back. */
  readonly isOwnerFromGroup: boolean;
  readonly createdAt: Date;
  /** Null for somebody who was invited and has not come yet. */
  readonly signedInAt: Date | null;
  /** When their rights last changed. */
  readonly rightsAt: Date;
  /** By the name of the environment; an owner's are not listed. */
  readonly roles: Readonly<Record<string, PersonRole>>;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** The issuers of the providers that they sign in with. */
  readonly providers: readonly string[];
  /** The ids of the accounts that an owner declared to belong to the same human. */
  readonly linked: readonly string[];
  /** The ids of the accounts that have, or had, the same address. */
  readonly sameAddress: readonly string[];
}

/** Whether they could come back when their sessions are over. */
export const canSignIn = ({ hasPassword, providers }: User): boolean =>
  hasPassword || providers.length > 0;

export interface NewUser extends UserRef {
  readonly email: string | null;
  readonly isOwner: boolean;
}

/** Who a provider says that somebody is. The e-mail address is none: it may change hands. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** What a person may do in one environment. */
export interface Access {
  readonly id: string;
  readonly userId: string;
  readonly environmentId: number;
  readonly role: PersonRole | "owner";
  /** A group of their provider gave it, and may take it. */
  readonly isFromGroup: boolean;
  /** The lower role that they were given by hand, and keep when the group takes its own; null without one. */
  readonly handRole: PersonRole | "owner" | null;
}

/** The one of two that may do more. */
export const higherRole = <R extends PersonRole | "owner">(one: R, other: R): R =>
  lesserRole(one, other) === one ? other : one;

export const maxUsers = 10_000;
export const maxUserNameLength = 100;
const maxEmailLength = 254;

/** Letters that differ in case alone become the same; some do so only by way of capitals. */
const fold = (text: string): string =>
  text.normalize("NFKC").toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");

/** Two ways to write the same address give the same text: also a domain in its form for machines. */
export const emailKeyOf = (email: string): string => {
  const at = email.lastIndexOf("@");
  const domain = email.slice(at + 1);
  const host = URL.parse(`http://${domain}`)?.hostname ?? domain;
  return `${fold(email.slice(0, at))}@${fold(host)}`;
};

/** An address that can be compared: without what looks like another character or cannot be seen. */
export const checkEmail = (text: string): Result<string> => {
  const email = text.trim();
  const isAddress =
    /^[^\s@<>()[\]\\,;:"\p{C}]+@([\p{L}\p{N}][\p{L}\p{M}\p{N}-]*\.)+\p{L}[\p{L}\p{M}\p{N}-]*$/u.test(
      email,
    );
  return isAddress && email.length <= maxEmailLength && email === email.normalize("NFKC")
    ? ok(email)
    : invalid("email", "must be an e-mail address");
};

/** A name that can be read: it stands in history, in the log and in terminals. */
export const checkUserName = (text: string): Result<string> => {
  const name = text.normalize("NFC").trim();
  const isName = name !== "" && !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(name);
  return isName && name.length <= maxUserNameLength
    ? ok(name)
    : invalid("name", `must be a text of 1 to ${maxUserNameLength} characters in one line`);
};

/** As the API and the command line show them. */
export const shownUser = (user: User) => ({
  id: user.id,
  name: user.name,
  email: user.email,
  owner: user.isOwner,
  roles: user.roles,
  state: user.signedInAt === null ? ("invited" as const) : ("active" as const),
  createdAt: user.createdAt.toISOString(),
  signedInAt: user.signedInAt?.toISOString() ?? null,
  hasPassword: user.hasPassword,
  hasSecondFactor: user.hasSecondFactor,
  providers: user.providers,
  linked: user.linked,
  sameAddress: user.sameAddress,
});
