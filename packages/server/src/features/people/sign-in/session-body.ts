// What GET /session tells: who is signed in, and what they may do in which environments.
import type { ApiKeyCache } from "../../../platform/auth/key-cache.ts";
import { may, type Principal, permissionsOf } from "../../../platform/auth/principal.ts";
import type { SessionHolder } from "../../../platform/auth/session.ts";
import { knownHolders } from "../../../platform/auth/session-authenticate.ts";
import { csrfTokenOf } from "../../../platform/auth/session-request.ts";
import type { Session } from "../../../platform/auth/sessions.ts";
import type { Db } from "../../../platform/database/db.ts";
import { listEnvironments } from "../../../platform/environments.ts";
import { findUser } from "../queries.ts";
import type { User } from "../user.ts";

export interface SessionAnswerDependencies {
  readonly keyCache: Pick<ApiKeyCache, "catchUp" | "knownHolder" | "accessOf">;
  readonly db: Db;
}

export interface SessionAnswers {
  /** Who the session is in each environment; of several keys of one environment the last that is good. */
  readonly holdersOf: (session: SessionHolder) => Promise<readonly Principal[]>;
  /** Whether the operator's link started the session, and a key that the link carried is still valid. */
  readonly hasLinkRights: (session: SessionHolder) => Promise<boolean>;
  /** Undefined when nobody is signed in by it: the person is gone, or the keys are. */
  readonly answerOf: (session: Session) => Promise<object | undefined>;
}

const shownUser = (user: User) => ({
  id: user.id,
  name: user.name,
  email: user.email,
  isOwner: user.isOwner,
  hasPassword: user.hasPassword,
  hasSecondFactor: user.hasSecondFactor,
  providers: user.providers,
});

export const createSessionAnswers = ({
  keyCache,
  db,
}: SessionAnswerDependencies): SessionAnswers => {
  const holdersOf: SessionAnswers["holdersOf"] = async (session) => {
    const isKnown = session.keyIds.every((keyId) => keyCache.knownHolder(keyId));
    if (!isKnown || session.userId !== null) await keyCache.catchUp();
    const byEnvironment = new Map<number, Principal>();
    for (const holder of knownHolders(keyCache, session)) {
      if (may(holder, "dashboard.use")) byEnvironment.set(holder.environment.id, holder);
    }
    return [...byEnvironment.values()];
  };

  const hasLinkRights: SessionAnswers["hasLinkRights"] = async (session) =>
    (await holdersOf(session)).some(({ keyId }) => session.link?.carried.includes(keyId));

  return {
    holdersOf,
    hasLinkRights,
    async answerOf(session) {
      const holders = await holdersOf(session);
      const user = session.userId === null ? undefined : await findUser(db, session.userId);
      // Somebody who may do nothing yet is signed in all the same; a key that is gone is nobody.
      if (!user && (session.userId !== null || holders.length === 0)) return undefined;
      const known = new Map((await listEnvironments(db)).map((each) => [each.id, each]));
      return {
        csrf: csrfTokenOf(session),
        endsAt: session.endsAt.toISOString(),
        method: session.method,
        signedInAt: session.signedInAt.toISOString(),
        isOwner: user ? user.isOwner : await hasLinkRights(session),
        user: user ? shownUser(user) : null,
        environments: holders
          .toSorted((a, b) => (a.environment.name < b.environment.name ? -1 : 1))
          .map(({ environment, role, actor, keyId, writesDirectly = false }) => {
            const { label = null, isProtected = false } = known.get(environment.id) ?? {};
            return {
              name: environment.name,
              label,
              protected: isProtected,
              writesDirectly,
              // Whoever came by a link has the operator's rights; the key itself is that of an admin.
              role: session.link && role === "owner" ? "admin" : role,
              permissions: permissionsOf(role),
              keyName: actor.name,
              keyId,
            };
          }),
      };
    },
  };
};
