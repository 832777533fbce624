// People: invite them, say what they may do, remove them.
import {
  type Actor,
  operator,
  type PersonRole,
  type Requester,
} from "../../platform/auth/principal.ts";
import { deleteSessions } from "../../platform/auth/session-queries.ts";
import type { Sources, Store, Transaction } from "../../platform/database/store.ts";
import { listEnvironments } from "../../platform/environments.ts";
import { conflict, invalid, notFound, ok, type Result } from "../../platform/errors.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../writes/idempotency.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { type Roles, setRights } from "./access.ts";
import { linkAccounts, unlinkAccount } from "./one-human-queries.ts";
import {
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  listUsers,
  updateUser,
} from "./queries.ts";
import { type Invitation, issueInvitation } from "./sign-in/links.ts";
import { setSecondFactor } from "./sign-in/queries.ts";
import { canSignIn, checkEmail, checkUserName, emailKeyOf, maxUsers, type User } from "./user.ts";

export interface NewPerson {
  readonly name: string;
  readonly email?: string | null;
  readonly isOwner?: boolean;
  readonly roles?: Roles;
}

export interface PersonChange {
  readonly name?: string;
  readonly email?: string | null;
  readonly isOwner?: boolean;
  /** By the name of the environment; null takes the role away, and what is not named stays. */
  readonly roles?: Readonly<Record<string, PersonRole | null>>;
}

export interface Invited {
  readonly user: User;
  readonly invitation: Invitation;
}

export interface Users {
  /** By name. */
  list(): Promise<readonly User[]>;
  get(id: string): Promise<Result<User>>;
  invite(
    requester: Requester,
    wanted: NewPerson,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<Invited>>;
  change(requester: Requester, id: string, change: PersonChange): Promise<Result<User>>;
  /** Their sessions, keys and streams end. */
  remove(requester: Requester, id: string): Promise<Result<void>>;
  /** Declares that both accounts belong to one human: neither can approve what the other proposes. */
  link(requester: Requester, id: string, other: string): Promise<Result<User>>;
  /** Separates the account from all linked accounts. */
  unlink(requester: Requester, id: string): Promise<Result<User>>;
  /** Earlier ones are no longer good; everything else stays until it is accepted. */
  newInvitation(requester: Requester, id: string): Promise<Result<Invitation>>;
  /** For the operator alone: whoever has lost app and recovery codes signs in with the password again. Their sessions end. */
  removeSecondFactor(id: string): Promise<Result<void>>;
}

const missing = (id: string): Result<never> => notFound("The person", id);

export const createUsers = (store: Store, sources: Sources): Users => {
  const { clock, newIds } = sources;

  /** The address, unless somebody else has it. */
  const freeEmail = async (
    transaction: Transaction,
    text: string | null,
    own?: string,
  ): Promise<Result<string | null>> => {
    if (text === null) return ok(null);
    const email = checkEmail(text);
    if (!email.ok) return email;
    const holder = await findUserByEmail(transaction, emailKeyOf(email.value));
    return !holder || holder.id === own
      ? email
      : conflict(`"${holder.name}" already has the e-mail address ${email.value}.`);
  };

  const rolesAfter = async (
    transaction: Transaction,
    before: Roles,
    change: NonNullable<PersonChange["roles"]>,
    isOwner: boolean,
  ): Promise<Result<Roles>> => {
    const changes = Object.entries(change);
    if (isOwner && changes.length > 0) {
      return invalid("roles", "must be left out for an owner, who may do everything everywhere");
    }
    const known = new Set((await listEnvironments(transaction)).map(({ name }) => name));
    const unknown = changes.find(([name]) => !known.has(name));
    if (unknown)
      return invalid(`roles.${unknown[0]}`, "must be a role in an environment that exists");
    const roles = new Map<string, PersonRole | null>([...Object.entries(before), ...changes]);
    const kept = [...roles].filter((each): each is [string, PersonRole] => each[1] !== null);
    return ok(Object.fromEntries(kept));
  };

  /** Somebody has to be able to manage people; the operator's command can still do without. */
  const refuseLast = async (
    transaction: Transaction,
    user: User,
    actor: Actor,
  ): Promise<Result<void>> => {
    if (actor === operator || !user.isOwner || !canSignIn(user)) return ok(undefined);
    const others = (await listUsers(transaction)).filter(({ id }) => id !== user.id);
    return others.some((other) => other.isOwner && canSignIn(other))
      ? ok(undefined)
      : conflict(
          `"${user.name}" is the last owner who can sign in; make somebody else an owner first, or use the command halyard users at the server.`,
        );
  };

  /** With what concerns all of them locked, and this one read under the lock. */
  const changing = <T>(
    requester: Requester,
    id: string,
    callback: (transaction: Transaction, user: User) => Promise<Result<T>>,
  ): Promise<Result<T>> =>
    transactFor(store, requester, async (transaction) => {
      await transaction.alone();
      const user = await findUser(transaction, id);
      return user ? callback(transaction, user) : missing(id);
    });

  const readBack = async (transaction: Transaction, id: string): Promise<Result<User>> => {
    const user = await findUser(transaction, id);
    return user ? ok(user) : missing(id);
  };

  const invite = async (
    transaction: Transaction,
    { actor }: Requester,
    { name: text, email: address = null, isOwner = false, roles: wanted = {} }: NewPerson,
  ): Promise<Result<Invited>> => {
    await transaction.alone();
    const name = checkUserName(text);
    if (!name.ok) return name;
    const email = await freeEmail(transaction, address);
    if (!email.ok) return email;
    const roles = await rolesAfter(transaction, {}, wanted, isOwner);
    if (!roles.ok) return roles;
    if ((await listUsers(transaction)).length >= maxUsers) {
      return conflict(`There are ${maxUsers} people, the maximum; remove somebody first.`);
    }
    const made = { id: newIds.user(), name: name.value, email: email.value, isOwner };
    await insertUser(transaction, made, clock());
    await setRights(sources, transaction, made, { isOwner, roles: roles.value }, { actor });
    const invitation = await issueInvitation(sources, transaction, made.id, actor);
    const user = await readBack(transaction, made.id);
    return user.ok ? ok({ user: user.value, invitation }) : user;
  };

  return {
    list: () => listUsers(store),
    async get(id) {
      const user = await findUser(store, id);
      return user ? ok(user) : missing(id);
    },

    invite: (requester, wanted, once) =>
      transactFor(store, requester, (transaction) =>
        runIdempotent(transaction, once, clock, () => invite(transaction, requester, wanted)),
      ),

    change: (requester, id, change) =>
      changing(requester, id, async (transaction, user) => {
        const { actor } = requester;
        const name = change.name === undefined ? ok(user.name) : checkUserName(change.name);
        if (!name.ok) return name;
        const email =
          change.email === undefined
            ? ok(user.email)
            : await freeEmail(transaction, change.email, id);
        if (!email.ok) return email;
        const { isOwner = user.isOwner } = change;
        const roles = await rolesAfter(transaction, user.roles, change.roles ?? {}, isOwner);
        if (!roles.ok) return roles;
        if (!isOwner) {
          const possible = await refuseLast(transaction, user, actor);
          if (!possible.ok) return possible;
        }
        const after = {
          ...(name.value !== user.name && { name: name.value }),
          ...(email.value !== user.email && { email: email.value }),
          ...(isOwner !== user.isOwner && { isOwner }),
        };
        if (Object.keys(after).length > 0) await updateUser(transaction, id, after, clock());
        const named = { id, name: name.value };
        await setRights(sources, transaction, named, { isOwner, roles: roles.value }, { actor });
        return readBack(transaction, id);
      }),

    remove: (requester, id) =>
      changing(requester, id, async (transaction, user) => {
        const { actor } = requester;
        const possible = await refuseLast(transaction, user, actor);
        if (!possible.ok) return possible;
        await setRights(sources, transaction, user, { isOwner: false, roles: {} }, { actor });
        await deleteUser(transaction, id);
        return ok(undefined);
      }),

    link: (requester, id, other) =>
      changing(requester, id, async (transaction, user) => {
        if (id === other) return invalid("account", "must be the id of another account");
        if (!(await findUser(transaction, other))) return missing(other);
        if (!user.linked.includes(other)) await linkAccounts(transaction, id, other);
        return readBack(transaction, id);
      }),

    unlink: (requester, id) =>
      changing(requester, id, async (transaction, user) => {
        if (user.linked.length > 0) await unlinkAccount(transaction, id);
        return readBack(transaction, id);
      }),

    removeSecondFactor: (id) =>
      changing({ actor: operator }, id, async (transaction, user) => {
        if (!user.hasSecondFactor) return conflict(`"${user.name}" has no second factor.`);
        await setSecondFactor(transaction, id, null);
        await deleteSessions(transaction, id, {});
        return ok(undefined);
      }),

    newInvitation: (requester, id) =>
      changing(requester, id, async (transaction) =>
        ok(await issueInvitation(sources, transaction, id, requester.actor)),
      ),
  };
};
