// People who come from an OpenID Connect provider: their account, and what their groups give them, at every sign-in.
import {
  type Claims,
  followGroups,
  grantedBy,
  isAdmitted,
  nameIn,
  type ProviderSettings,
  verifiedEmailIn,
} from "../../domain/provider.ts";
import {
  checkEmail,
  emailKeyOf,
  type Identity,
  maxUserNameLength,
  maxUsers,
  type User,
} from "../../domain/user.ts";
import type { Sources, Store, Transaction } from "../../ports.ts";
import { setRole } from "../people-access.ts";
import { linkHash } from "../sign-in-links.ts";

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
  | { readonly kind: "in"; readonly value: T; readonly userId: string; readonly isNew: boolean }
  | { readonly kind: "no-access"; readonly reason: string }
  /** It was used, has expired or never existed. */
  | { readonly kind: "invitation-over" };

export interface ProviderSignIn {
  /** `begin` is part of the transaction: without a session nothing has happened. */
  arrive<T>(
    arrival: Arrival,
    begin: (transaction: Transaction, userId: string) => Promise<T>,
  ): Promise<Arrived<T>>;
}

/** Undoes the transaction. */
class TurnedAway extends Error {
  readonly answer: Exclude<Arrived<never>, { kind: "in" }>;
  constructor(answer: Exclude<Arrived<never>, { kind: "in" }>) {
    super(answer.kind);
    this.answer = answer;
  }
}

const noAccess = (reason: string) => new TurnedAway({ kind: "no-access", reason });

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
  ): Promise<User> => {
    const grant = await transaction.takeSignInLink(linkHash(token), clock());
    const invited = grant?.userId ? await transaction.user(grant.userId) : undefined;
    if (!invited) throw new TurnedAway({ kind: "invitation-over" });
    if (known && known.id !== invited.id) {
      throw noAccess("this identity belongs to somebody else than who was invited");
    }
    if (!known) await transaction.insertIdentity(invited.id, identity);
    await transaction.deleteInvitations(invited.id);
    return invited;
  };

  /** An account without a role. */
  const create = async (transaction: Transaction, { identity, claims }: Arrival): Promise<User> => {
    if ((await transaction.users()).length >= maxUsers) throw noAccess("there are too many people");
    const email = checkEmail(verifiedEmailIn(claims) ?? "");
    // Who has an address is told apart by it, so nobody gets somebody else's: not even somebody of the same name.
    const isFree = email.ok && !(await transaction.userByEmail(emailKeyOf(email.value)));
    const id = newIds.user();
    await transaction.insertUser(
      {
        id,
        name: nameIn(claims, maxUserNameLength),
        email: isFree ? email.value : null,
        isOwner: false,
      },
      clock(),
    );
    await transaction.insertIdentity(id, identity);
    const user = await transaction.user(id);
    if (!user) throw new Error("a new account cannot be read");
    return user;
  };

  const follow = async (
    transaction: Transaction,
    user: User,
    { settings, claims }: Arrival,
  ): Promise<void> => {
    const granted = grantedBy(settings, claims);
    const isOwnerByHand = user.isOwner && !user.isOwnerFromGroup;
    const isOwnerFromGroup = granted.isOwner && !isOwnerByHand;
    const isOwner = isOwnerByHand || isOwnerFromGroup;
    if (isOwner !== user.isOwner) {
      await transaction.updateUser(user.id, { isOwner, isOwnerFromGroup }, clock());
    }
    const environments = await transaction.environments();
    const known = await transaction.accessOf(user.id);
    const actor = { keyId: null, name: settings.name };
    for (const { environment, before, role, ...given } of followGroups(
      environments,
      known,
      granted,
      isOwnerByHand,
    )) {
      await setRole(sources, transaction, user, environment, [before, role], { ...given, actor });
    }
  };

  return {
    async arrive(arrival, begin) {
      const { settings, identity, claims, invitation, expected } = arrival;
      if (!isAdmitted(settings, claims)) {
        return { kind: "no-access", reason: "a claim that the settings require is missing" };
      }
      try {
        return await store.transact(async (transaction) => {
          // Somebody who comes twice at the same moment gets one account, and each access once.
          await transaction.alone();
          const known = await transaction.userByIdentity(identity);
          if (expected !== null && known?.id !== expected) {
            throw noAccess("somebody else has signed in than who was asked to");
          }
          const user =
            invitation === null
              ? (known ?? (await create(transaction, arrival)))
              : await accept(transaction, invitation, identity, known);
          await follow(transaction, user, arrival);
          await transaction.updateUser(user.id, { signedInAt: clock() }, clock());
          const value = await begin(transaction, user.id);
          const isNew = known === undefined && invitation === null;
          return { kind: "in", value, userId: user.id, isNew };
        });
      } catch (error) {
        if (error instanceof TurnedAway) return error.answer;
        throw error;
      }
    },
  };
};
