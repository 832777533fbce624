// People who come from an OpenID Connect provider: their account, and what their groups give them, at every sign-in.

import type { Sources, Store, Transaction } from "../../../platform/database/store.ts";
import { listEnvironments } from "../../../platform/environments.ts";
import { setRole } from "../access.ts";
import { listAccess } from "../access-queries.ts";
import { rememberAddress } from "../address-hashes.ts";
import { isAddressTaken } from "../one-human-queries.ts";
import {
  findUser,
  findUserByEmail,
  findUserByIdentity,
  insertIdentity,
  insertUser,
  listUsers,
  updateUser,
} from "../queries.ts";
import {
  checkEmail,
  emailKeyOf,
  type Identity,
  maxUserNameLength,
  maxUsers,
  type User,
} from "../user.ts";
import { linkHash } from "./links.ts";
import {
  type Claims,
  followGroups,
  type Granted,
  grantedBy,
  isAdmitted,
  nameIn,
  type ProviderSettings,
  subjectProblem,
  verifiedEmailIn,
} from "./provider.ts";
import { deleteInvitations, findInvitation } from "./queries.ts";

export interface Arrival {
  readonly settings: ProviderSettings;
  readonly identity: Identity;
  readonly claims: Claims;
  /** The token of the invitation that they came with. */
  readonly invitation: string | null;
  /** Who signs in again; null when it may be anybody. */
  readonly expected: string | null;
}

export type Arrived<T> =
  | {
      readonly kind: "in";
      readonly value: T;
      readonly userId: string;
      readonly isNew: boolean;
      /** Another account had the address first: groups give no roles until an owner links the two. */
      readonly isAddressTaken: boolean;
    }
  | { readonly kind: "no-access" | "subject"; readonly reason: string }
  /** It was used, has expired or never existed. */
  | { readonly kind: "invitation-over" };

export interface ProviderSignIn {
  /** `begin` is part of the transaction: without a session nothing has happened. */
  arrive<T>(
    arrival: Arrival,
    begin: (transaction: Transaction, userId: string) => Promise<T>,
  ): Promise<Arrived<T>>;
}

type TurnedAway = Exclude<Arrived<never>, { kind: "in" }>;
type Welcome = { readonly kind: "welcome"; readonly user: User; readonly isNew: boolean };

const nothing: Granted = { isOwner: false, roles: new Map() };

const noAccess = (reason: string): TurnedAway => ({ kind: "no-access", reason });

export const createProviderSignIn = (
  store: Store,
  sources: Pick<Sources, "clock" | "newIds">,
): ProviderSignIn => {
  const { clock, newIds } = sources;

  /** Whom the invitation is for; with it, their identity is this one from now on. */
  const accept = async (
    transaction: Transaction,
    token: string,
    identity: Identity,
    known: User | undefined,
  ): Promise<Welcome | TurnedAway> => {
    const invitation = await findInvitation(transaction, linkHash(token), clock());
    const user = invitation && (await findUser(transaction, invitation.userId));
    if (!user) return { kind: "invitation-over" };
    if (known && known.id !== user.id) {
      return noAccess("this identity belongs to somebody else than who was invited");
    }
    // Whoever has only the link would sign in from then on without the code that a password asks for.
    if (!known && user.hasSecondFactor) {
      return noAccess("who was invited has a second factor, and has to turn it off before");
    }
    if (!known) await insertIdentity(transaction, user.id, identity);
    await deleteInvitations(transaction, user.id);
    return { kind: "welcome", user, isNew: false };
  };

  /** An account without a role. */
  const create = async (
    transaction: Transaction,
    { identity, claims }: Arrival,
  ): Promise<Welcome | TurnedAway> => {
    if ((await listUsers(transaction)).length >= maxUsers)
      return noAccess("there are too many people");
    const email = checkEmail(verifiedEmailIn(claims) ?? "");
    // Who has an address is told apart by it, so nobody gets somebody else's: not even somebody of the same name.
    const isFree = email.ok && !(await findUserByEmail(transaction, emailKeyOf(email.value)));
    const id = newIds.user();
    const name = nameIn(claims, maxUserNameLength);
    const made = { id, name, email: isFree ? email.value : null, isOwner: false };
    await insertUser(transaction, made, clock());
    await insertIdentity(transaction, id, identity);
    const user = await findUser(transaction, id);
    if (!user) throw new Error("a new account cannot be read");
    return { kind: "welcome", user, isNew: true };
  };

  const receive = async (transaction: Transaction, arrival: Arrival) => {
    const { identity, invitation, expected } = arrival;
    const known = await findUserByIdentity(transaction, identity);
    if (expected !== null && known?.id !== expected) {
      return noAccess("somebody else has signed in than who was asked to");
    }
    if (invitation !== null) return accept(transaction, invitation, identity, known);
    return known
      ? ({ kind: "welcome", user: known, isNew: false } as const)
      : create(transaction, arrival);
  };

  const follow = async (
    transaction: Transaction,
    user: User,
    { settings, claims }: Arrival,
  ): Promise<{ readonly isAddressTaken: boolean }> => {
    const email = checkEmail(verifiedEmailIn(claims) ?? "");
    if (email.ok) await rememberAddress(transaction, user.id, email.value, clock());
    // Otherwise one human could have two accounts that both have roles, and approve with one what the other proposes.
    const isTaken = await isAddressTaken(transaction, user.id);
    const granted = isTaken ? nothing : grantedBy(settings, claims);
    const isOwnerByHand = user.isOwner && !user.isOwnerFromGroup;
    const isOwnerFromGroup = granted.isOwner && !isOwnerByHand;
    const isOwner = isOwnerByHand || isOwnerFromGroup;
    if (isOwner !== user.isOwner) {
      await updateUser(transaction, user.id, { isOwner, isOwnerFromGroup }, clock());
    }
    const environments = await listEnvironments(transaction);
    const known = await listAccess(transaction, user.id);
    const actor = { keyId: null, name: settings.name };
    for (const { environment, before, role, ...given } of followGroups(
      environments,
      known,
      granted,
      isOwnerByHand,
    )) {
      await setRole(sources, transaction, user, environment, [before, role], { ...given, actor });
    }
    return { isAddressTaken: isTaken };
  };

  return {
    async arrive(arrival, begin) {
      if (!isAdmitted(arrival.settings, arrival.claims)) {
        return noAccess("a claim that the settings require is missing");
      }
      const problem = subjectProblem(arrival.identity.subject);
      if (problem !== undefined) return { kind: "subject", reason: problem };
      return store.transact(async (transaction) => {
        // Somebody who comes twice at the same moment gets one account, and each access once.
        await transaction.alone();
        const received = await receive(transaction, arrival);
        if (received.kind !== "welcome") return received;
        const { user, isNew } = received;
        const followed = await follow(transaction, user, arrival);
        await updateUser(transaction, user.id, { signedInAt: clock() }, clock());
        const value = await begin(transaction, user.id);
        return { kind: "in", value, userId: user.id, isNew, ...followed };
      });
    },
  };
};
