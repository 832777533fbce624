// OpenID Connect providers: what the operator has set of them, and what their groups give to people.

import type { EnvironmentRef, PersonRole } from "../../../platform/auth/principal.ts";
import { type Access, higherRole } from "../user.ts";

/** What the members of a group are given. */
export interface GroupGrant {
  readonly owner?: true;
  /** By the name of the environment. */
  readonly roles?: Readonly<Record<string, PersonRole>>;
}

export interface ProviderSettings {
  /** Part of addresses. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which proves itself with PKCE alone. */
  readonly clientSecret: string | undefined;
  /** How the secret is sent: in the body of the request, or in its header. */
  readonly clientAuthentication: "post" | "basic";
  readonly scopes: readonly string[];
  /** The claim that lists the groups of a person. */
  readonly groupsClaim: string;
  readonly groups: Readonly<Record<string, GroupGrant>>;
  /**
   * Whether a fresh sign-in needs the provider's word on when it was. For one that never says so it is assumed, because it was
   * asked for.
   */
  readonly authTime: "required" | "assumed";
  /** Whoever lacks one of these does not get in: the claim, and the values that it may have. */
  readonly requiredClaims: Readonly<Record<string, readonly string[]>>;
}

/** The maximum length in OpenID Connect. */
export const maxSubjectLength = 255;

/** Why a subject cannot name an account; undefined when it can. Databases store other characters in place of invalid ones. */
export const subjectProblem = (subject: string): string | undefined => {
  if (subject === "" || subject.length > maxSubjectLength) {
    return `the provider's subject (sub) has ${subject.length} characters; it must have 1 to ${maxSubjectLength}`;
  }
  return subject.isWellFormed() && !/\p{Cc}/u.test(subject)
    ? undefined
    : "the provider's subject (sub) is not well-formed text without control characters";
};

/** What a provider says of somebody who has signed in there. */
export type Claims = Readonly<Record<string, unknown>>;

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");

export const isAdmitted = ({ requiredClaims }: ProviderSettings, claims: Claims): boolean =>
  Object.entries(requiredClaims).every(([claim, values]) =>
    textsOf(claims[claim]).some((each) => values.includes(each)),
  );

/** What the groups of somebody give them, all taken together. */
export interface Granted {
  readonly isOwner: boolean;
  readonly roles: ReadonlyMap<string, PersonRole>;
}

export const grantedBy = ({ groupsClaim, groups }: ProviderSettings, claims: Claims): Granted => {
  const own = new Set(textsOf(claims[groupsClaim]));
  const grants = Object.entries(groups).filter(([group]) => own.has(group));
  const roles = new Map<string, PersonRole>();
  for (const [environment, role] of grants.flatMap(([, grant]) =>
    Object.entries(grant.roles ?? {}),
  ))
    roles.set(environment, higherRole(roles.get(environment) ?? role, role));
  return { isOwner: grants.some(([, grant]) => grant.owner === true), roles };
};

export interface AccessChange extends Pick<Access, "isFromGroup" | "handRole"> {
  readonly environment: EnvironmentRef;
  readonly before: Access["role"] | undefined;
  readonly role: Access["role"] | undefined;
}

/**
 * What changes in somebody's access when their groups give them this. What was given by hand stays, and the higher of the two
 * counts; what only a group gave goes with the group.
 */
export const followGroups = (
  environments: readonly EnvironmentRef[],
  known: readonly Access[],
  granted: Granted,
  isOwnerByHand: boolean,
): readonly AccessChange[] =>
  environments.flatMap((environment) => {
    const access = known.find(({ environmentId }) => environmentId === environment.id);
    const byHand = access && handRoleOf(access, isOwnerByHand);
    const byGroup = granted.isOwner ? "owner" : granted.roles.get(environment.name);
    const role = byHand && byGroup ? higherRole(byHand, byGroup) : (byHand ?? byGroup);
    if (role === access?.role) return [];
    const isFromGroup = role !== byHand;
    const handRole = isFromGroup ? (byHand ?? null) : null;
    return [{ environment, before: access?.role, role, isFromGroup, handRole }];
  });

/** An owner's role is that of a group when their ownership is, whoever wrote it into a new environment. */
const handRoleOf = (
  access: Access,
  isOwnerByHand: boolean,
): Exclude<Access["handRole"], null> | undefined => {
  const isByHand = access.role === "owner" ? isOwnerByHand : !access.isFromGroup;
  return isByHand ? access.role : (access.handRole ?? undefined);
};

/** Only an address that the provider has verified. Some write the truth as a text. */
export const verifiedEmailIn = ({ email, email_verified }: Claims): string | undefined =>
  typeof email === "string" && (email_verified === true || email_verified === "true")
    ? email
    : undefined;

/** The name that people see, of what a provider calls them. */
export const nameIn = (claims: Claims, maxLength: number): string => {
  const { name, preferred_username, sub } = claims;
  const names = textsOf([name, preferred_username, verifiedEmailIn(claims), sub]);
  const clean = names.map((each) => each.normalize("NFC").replace(/\p{C}/gu, "").trim());
  const first = clean.find((each) => each !== "") ?? "Unnamed";
  // Half a character is none.
  return first.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
};
