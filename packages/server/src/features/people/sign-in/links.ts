// One-time links: those of the operator sign in to the dashboard with the oldest admin key of every environment, invitations are for one person.
import { createHash } from "node:crypto";
import { isExpired } from "../../../platform/auth/api-key.ts";
import { listKeys } from "../../../platform/auth/key-queries.ts";
import type { Actor } from "../../../platform/auth/principal.ts";
import type {
  Clock,
  RandomBytes,
  Sources,
  Store,
  Transaction,
} from "../../../platform/database/store.ts";
import { listEnvironments } from "../../../platform/environments.ts";
import { deleteInvitations, insertSignInLink, takeSignInLink } from "./queries.ts";

const lifetime = 10 * 60 * 1_000;
const invitationLifetime = 7 * 24 * 60 * 60 * 1_000;

/** Lets a person sign in for the first time, or again when they have lost what they signed in with. */
export interface Invitation {
  /** Shown once; nobody can read it back. */
  readonly token: string;
  readonly expiresAt: Date;
}

export interface SignInLinks {
  /** The token of a new link, valid for ten minutes and one use. */
  issue(): Promise<string>;
  /** The keys that the link signs in with, once; undefined when it was used, has expired or never existed. */
  redeem(token: string): Promise<readonly string[] | undefined>;
}

/** What the store knows it by. */
export const linkHash = (token: string): Uint8Array => createHash("sha256").update(token).digest();

const newToken = (random: RandomBytes): string =>
  random(32).toBase64({ alphabet: "base64url", omitPadding: true });

/** Earlier invitations of the person are no longer good. */
export const issueInvitation = async (
  { clock, random }: Pick<Sources, "clock" | "random">,
  transaction: Transaction,
  userId: string,
  { user }: Actor,
): Promise<Invitation> => {
  const now = clock();
  const token = newToken(random);
  const expiresAt = new Date(now.getTime() + invitationLifetime);
  await deleteInvitations(transaction, userId);
  const invitedBy = user?.name ?? null;
  await insertSignInLink(
    transaction,
    { hash: linkHash(token), keyIds: [], userId, invitedBy, expiresAt },
    now,
  );
  return { token, expiresAt };
};

export const createSignInLinks = (
  store: Store,
  { clock, random }: { readonly clock: Clock; readonly random: RandomBytes },
): SignInLinks => ({
  issue: () =>
    store.transact(async (transaction) => {
      const now = clock();
      const keyIds: string[] = [];
      for (const { id } of await listEnvironments(transaction)) {
        const keys = await listKeys(transaction, id);
        const oldest = keys.find(
          (key) => key.role === "admin" && key.user === null && !isExpired(key, now),
        );
        if (oldest) keyIds.push(oldest.id);
      }
      const token = newToken(random);
      const expiresAt = new Date(now.getTime() + lifetime);
      await insertSignInLink(
        transaction,
        { hash: linkHash(token), keyIds, userId: null, invitedBy: null, expiresAt },
        now,
      );
      return token;
    }),

  redeem: (token) =>
    store.transact((transaction) => takeSignInLink(transaction, linkHash(token), clock())),
});
