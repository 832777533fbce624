// What people may do in environments: given, changed and taken, with an entry in the history of each environment.
import type { EnvironmentRef, PersonRole, Role, UserRef } from "../../platform/auth/principal.ts";
import { type Actor, operator } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import type { Sources, Transaction } from "../../platform/database/store.ts";
import { listEnvironments } from "../../platform/environments.ts";
import { listAccess, setAccess } from "./access-queries.ts";
import { findUser, listUsers } from "./queries.ts";
import type { Access } from "./user.ts";

export type Roles = Readonly<Record<string, PersonRole>>;

interface Given {
  readonly actor: Actor;
  /** A group of their provider gives it, and may take it. */
  readonly isFromGroup?: boolean;
  /** What they were given by hand, beneath what the group gives. */
  readonly handRole?: Access["handRole"];
}

/** What the person may do in the environment now; undefined when they have no role there. */
export const roleIn = async (
  db: Db,
  environmentId: number,
  userId: string,
): Promise<Access["role"] | undefined> => {
  const access = await listAccess(db, userId);
  return access.find((each) => each.environmentId === environmentId)?.role;
};

export const hasAccount = async (db: Db, userId: string): Promise<boolean> =>
  (await findUser(db, userId)) !== undefined;

const shown = ({ id, name }: UserRef, role: Role) => ({ id, name, role });

/** Their role in one environment from now on; undefined for none. */
export const setRole = async (
  { clock, newIds }: Pick<Sources, "clock" | "newIds">,
  transaction: Transaction,
  user: UserRef,
  environment: Pick<EnvironmentRef, "id">,
  [before, after]: readonly [Role | undefined, PersonRole | "owner" | undefined],
  { actor, isFromGroup = false, handRole = null }: Given,
): Promise<void> => {
  const at = clock();
  const access = after && { id: newIds.key(), role: after, isFromGroup, handRole };
  await setAccess(transaction, user.id, environment.id, access ?? null, at);
  await transaction.record(environment.id, {
    subject: "user",
    subjectId: user.id,
    version: null,
    at,
    actor,
    actions: [!before ? "user.added" : after ? "user.role_changed" : "user.removed"],
    before: before ? shown(user, before) : null,
    after: after ? shown(user, after) : null,
  });
};

/** Exactly these rights, in every environment. What stays the same is left alone: a change ends streams. */
export const setRights = async (
  sources: Pick<Sources, "clock" | "newIds">,
  transaction: Transaction,
  user: UserRef,
  { isOwner, roles }: { readonly isOwner: boolean; readonly roles: Roles },
  given: Given,
): Promise<void> => {
  const known = new Map(
    (await listAccess(transaction, user.id)).map(({ environmentId, role }) => [
      environmentId,
      role,
    ]),
  );
  const wanted = new Map(Object.entries(roles));
  for (const environment of await listEnvironments(transaction)) {
    const before = known.get(environment.id);
    const after = isOwner ? "owner" : wanted.get(environment.name);
    if (before === after) continue;
    await setRole(sources, transaction, user, environment, [before, after], given);
  }
};

/** Owners have access to every environment, also to one that is new. */
export const admitOwners = async (
  sources: Pick<Sources, "clock" | "newIds">,
  transaction: Transaction,
  environment: Pick<EnvironmentRef, "id">,
): Promise<void> => {
  for (const user of await listUsers(transaction)) {
    if (!user.isOwner) continue;
    const given = { actor: operator };
    await setRole(sources, transaction, user, environment, [undefined, "owner"], given);
  }
};
