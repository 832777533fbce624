// Signs people in with a password, and with the code of their second factor when they have one.
import { createHash } from "node:crypto";
import { deleteSessions } from "../../../platform/auth/session-queries.ts";
import type { NewSession, Session, Sessions } from "../../../platform/auth/sessions.ts";
import type { Clock, Store, Transaction } from "../../../platform/database/store.ts";
import { type Failure, fail, ok, type Result } from "../../../platform/errors.ts";
import { findUser, findUserByEmail, updateUser } from "../queries.ts";
import { checkEmail, checkUserName, emailKeyOf, type User } from "../user.ts";
import { checkPassword } from "./password-rules.ts";
import type { Passwords } from "./passwords.ts";
import { deleteInvitations, findCredentials, findInvitation, setPassword } from "./queries.ts";
import { refuseCode } from "./second-factors.ts";

/** From where a session begins. */
export type Place = Pick<NewSession, "address" | "agent">;

/** A sign-in that failed names the person when there is one. */
export type SignedIn =
  | { readonly ok: true; readonly value: Session }
  | { readonly ok: false; readonly failure: Failure; readonly userId: string | null };

export interface Proof {
  readonly password: string;
  /** Of the second factor: of the app, or a recovery code. */
  readonly code?: string | undefined;
}

export interface Invited {
  readonly user: User;
  /** Null when it is not a person. */
  readonly invitedBy: string | null;
}

export interface PasswordSignIn {
  /** A new session in the place of the earlier one. An unknown address, one without a password and a wrong password are the same. */
  signIn(
    proof: Proof & { readonly email: string },
    place: Place,
    earlier: Session | undefined,
  ): Promise<SignedIn>;
  /** The same person proves again who they are: the same session, fresh, under a new token. */
  again(userId: string, session: Session, proof: Proof): Promise<SignedIn>;
  /** Ends the person's other sessions, and gives this one a new token. */
  change(
    userId: string,
    session: Session,
    change: { readonly current: string; readonly password: string },
  ): Promise<SignedIn>;
  /** Whom an invitation is for, and who invites, without using it up. */
  invited(token: string): Promise<Invited | undefined>;
  /** Uses the invitation up: the person has this name and this password, and is signed in. */
  accept(
    acceptance: Proof & { readonly token: string; readonly name: string },
    place: Place,
    earlier: Session | undefined,
  ): Promise<SignedIn>;
}

const wrong: Failure = {
  code: "UNAUTHORIZED",
  message: "The e-mail address or the password is wrong.",
};
const wrongPassword: Failure = { code: "UNAUTHORIZED", message: "The password is wrong." };
export const invitationOver: Failure = {
  code: "UNAUTHORIZED",
  message: "This invitation was used, has expired or never existed; ask for another one.",
};
const noPassword: Failure = {
  code: "CONFLICT",
  message: "You sign in without a password; an owner can send you an invitation to have one.",
};
const noAddress: Failure = {
  code: "CONFLICT",
  message:
    "A password goes with an e-mail address, and this account has none; ask an owner to add it.",
};

const invitationHash = (token: string): Uint8Array => createHash("sha256").update(token).digest();

export interface PasswordSignInDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  /** Whether many people use it. Loaded when it is needed. */
  readonly loadCommonPasswords: () => Promise<(text: string) => boolean>;
}

export const createPasswordSignIn = ({
  store,
  clock,
  sessions,
  passwords,
  loadCommonPasswords,
}: PasswordSignInDependencies): PasswordSignIn => {
  const refuse = (failure: Failure, userId: string | null): SignedIn => ({
    ok: false,
    failure,
    userId,
  });

  /** After the password was right: asks for the code, and goes on in the same transaction. */
  const proven = (
    userId: string,
    stored: string,
    code: string | undefined,
    rehashed: string | undefined,
    next: (transaction: Transaction) => Promise<Session>,
  ): Promise<SignedIn> =>
    store.transact(async (transaction): Promise<SignedIn> => {
      const now = clock();
      const credentials = await findCredentials(transaction, userId);
      // Changed since it was compared.
      if (credentials?.password !== stored) return refuse(wrong, userId);
      const refused = await refuseCode(transaction, userId, credentials, code, now);
      if (refused) return refuse(refused, userId);
      if (rehashed !== undefined) await setPassword(transaction, userId, rehashed);
      await updateUser(transaction, userId, { signedInAt: now }, now);
      return { ok: true, value: await next(transaction) };
    });

  /** Compares the password; the hash of today's parameters when the stored one is outdated. */
  const verify = async (
    userId: string | null,
    password: string,
    failure: Failure,
  ): Promise<Result<{ readonly stored: string; readonly rehashed: string | undefined }>> => {
    const credentials =
      userId === null ? undefined : await findCredentials(store.background, userId);
    const stored = credentials?.password ?? null;
    const verdict = await passwords.verify(password, stored);
    if (!verdict.ok) return verdict;
    if (!verdict.value.isRight || stored === null) return fail(failure);
    if (!verdict.value.isOutdated) return ok({ stored, rehashed: undefined });
    const anew = await passwords.hash(password);
    return anew.ok ? ok({ stored, rehashed: anew.value }) : anew;
  };

  const checkNew = async (password: string, user: Pick<User, "name" | "email">) =>
    checkPassword(password, user, await loadCommonPasswords());

  const asPerson = (userId: string, place: Place): NewSession => ({
    ...place,
    keyIds: [],
    userId,
    link: null,
    method: "password",
  });

  const invited = async (token: string): Promise<Invited | undefined> => {
    const invitation = await findInvitation(store, invitationHash(token), clock());
    const user = invitation && (await findUser(store, invitation.userId));
    return user && { user, invitedBy: invitation.invitedBy };
  };

  return {
    async signIn({ email, password, code }, place, earlier) {
      // What is no address is as unknown as an unknown one.
      const address = checkEmail(email);
      const user = address.ok ? await findUserByEmail(store, emailKeyOf(address.value)) : undefined;
      const userId = user?.id ?? null;
      const verified = await verify(userId, password, wrong);
      if (!verified.ok || userId === null) {
        return refuse(verified.ok ? wrong : verified.failure, userId);
      }
      const { stored, rehashed } = verified.value;
      return proven(userId, stored, code, rehashed, (transaction) =>
        sessions.begin(asPerson(userId, place), earlier, transaction),
      );
    },

    async again(userId, session, { password, code }) {
      const verified = await verify(userId, password, wrongPassword);
      if (!verified.ok) return refuse(verified.failure, userId);
      const { stored, rehashed } = verified.value;
      const change = { signedInAt: clock(), method: "password" } as const;
      return proven(userId, stored, code, rehashed, (transaction) =>
        sessions.renew(session, change, transaction),
      );
    },

    async change(userId, session, { current, password }) {
      const user = await findUser(store, userId);
      const credentials = await findCredentials(store.background, userId);
      if (!user || credentials?.password == null) return refuse(noPassword, userId);
      const checked = await checkNew(password, user);
      if (!checked.ok) return refuse(checked.failure, userId);
      const verified = await verify(userId, current, wrongPassword);
      if (!verified.ok) return refuse(verified.failure, userId);
      const hash = await passwords.hash(password);
      if (!hash.ok) return refuse(hash.failure, userId);
      return store.transact(async (transaction): Promise<SignedIn> => {
        const now = await findCredentials(transaction, userId);
        if (now?.password !== verified.value.stored) return refuse(wrongPassword, userId);
        await setPassword(transaction, userId, hash.value);
        await sessions.endOthers(session, transaction);
        return { ok: true, value: await sessions.renew(session, {}, transaction) };
      });
    },

    invited,

    async accept({ token, name, password, code }, place, earlier) {
      const hash = invitationHash(token);
      const invitation = await invited(token);
      if (!invitation) return refuse(invitationOver, null);
      const { id: userId, email } = invitation.user;
      const called = checkUserName(name);
      if (!called.ok) return refuse(called.failure, userId);
      if (email === null) return refuse(noAddress, userId);
      const checked = await checkNew(password, { name: called.value, email });
      if (!checked.ok) return refuse(checked.failure, userId);
      const hashed = await passwords.hash(password);
      if (!hashed.ok) return refuse(hashed.failure, userId);
      return store.transact(async (transaction): Promise<SignedIn> => {
        const now = clock();
        // Locked: of several who accept it at the same moment, the others find it gone.
        if ((await findInvitation(transaction, hash, now))?.userId !== userId) {
          return refuse(invitationOver, userId);
        }
        const credentials = await findCredentials(transaction, userId);
        if (!credentials) return refuse(invitationOver, userId);
        // A new password does not replace the second factor.
        const refused = await refuseCode(transaction, userId, credentials, code, now);
        if (refused) return refuse(refused, userId);
        await deleteInvitations(transaction, userId);
        await setPassword(transaction, userId, hashed.value);
        await updateUser(transaction, userId, { name: called.value, signedInAt: now }, now);
        await deleteSessions(transaction, userId, {});
        return {
          ok: true,
          value: await sessions.begin(asPerson(userId, place), earlier, transaction),
        };
      });
    },
  };
};
