// How people sign in: what the server offers, and the calls that do it.
import type { PersonRole, Result } from "@halyard/sdk/management";
import { type Session, type SessionFetch, sessionCall, withJson } from "../api.ts";

export interface Provider {
  readonly id: string;
  readonly name: string;
}

export interface Ways {
  /** Whether anybody has one. */
  readonly password: boolean;
  readonly providers: readonly Provider[];
}

export const readWays = (): Promise<Result<Ways>> => sessionCall("/session/ways");

interface PasswordSignIn {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, or a recovery code. */
  readonly code?: string;
}

export const signInWithPassword = (given: PasswordSignIn): Promise<Result<Session>> =>
  sessionCall("/session/password", withJson("POST", given));

export interface Invitation {
  readonly name: string;
  readonly email: string | null;
  /** Null when it is not a person. */
  readonly invitedBy: string | null;
  readonly owner: boolean;
  readonly roles: Readonly<Record<string, PersonRole>>;
  readonly providers: readonly Provider[];
}

export const readInvitation = (token: string): Promise<Result<Invitation>> =>
  sessionCall(`/session/invitation?token=${encodeURIComponent(token)}`);

export const acceptInvitation = (given: {
  readonly token: string;
  readonly name: string;
  readonly password: string;
  /** Of those who have a second factor already: the link is their way to a new password. */
  readonly code?: string;
}): Promise<Result<Session>> => sessionCall("/session/invitation", withJson("POST", given));

export const signInAgain = (
  fetch: SessionFetch,
  given: { readonly password?: string; readonly code?: string },
): Promise<Result<Session>> => sessionCall("/session/again", withJson("POST", given), fetch);

/** Where a provider's sign-in begins; it comes back to `to`. */
export const providerAddress = (
  { id }: Provider,
  given: { readonly to: string; readonly again?: "1"; readonly invitation?: string },
): string => `/sign-in/oidc/${encodeURIComponent(id)}?${new URLSearchParams(given).toString()}`;

/** The password was right, and the second factor is missing or wrong. */
export const needsCode = (result: Result<unknown>): boolean =>
  !result.ok && result.error.details?.some(({ field }) => field === "code") === true;
