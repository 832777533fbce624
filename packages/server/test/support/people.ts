// People who are signed in, made in the store beside the running server: what tests need that are not about signing in.
import assert from "node:assert/strict";
import { parseConfig } from "@halyard/server";
import { setAccess } from "../../src/features/people/access-queries.ts";
import { insertUser } from "../../src/features/people/queries.ts";
import { newIds, openStore, random, systemClock } from "../../src/operator/operator.ts";
import type { PersonRole } from "../../src/platform/auth/principal.ts";
import { csrfTokenOf } from "../../src/platform/auth/session-request.ts";
import { createSessions, type NewSession } from "../../src/platform/auth/sessions.ts";
import type { Store } from "../../src/platform/database/store.ts";
import { listEnvironments } from "../../src/platform/environments.ts";
import { type Api, createApi } from "./api.ts";
import { storeSettings } from "./test-store.ts";

export interface Person {
  readonly name?: string;
  readonly email?: string;
  /** By the name of the environment. */
  readonly roles?: Readonly<Record<string, PersonRole>>;
  readonly owner?: boolean;
}

export interface SignedIn {
  readonly userId: string;
  readonly sessionId: string;
  readonly cookie: string;
  readonly csrf: string;
  /** What the page sends with a request to an environment. */
  headersFor(environment: string): Readonly<Record<string, string>>;
  /** Calls as this person, in this environment. */
  in(environment: string): Api;
}

interface Where {
  readonly url: string;
  readonly folder: string;
}

/** The store of a test server, opened a second time. */
export const withStore = async <T>(
  { folder }: Pick<Where, "folder">,
  work: (store: Store) => Promise<T>,
): Promise<T> => {
  const store = await openStore(parseConfig(await storeSettings(folder)));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** Somebody with these rights. */
export const addPerson = (
  where: Pick<Where, "folder">,
  { name = "Ada", email, roles = {}, owner = false }: Person,
): Promise<string> =>
  withStore(where, (store) =>
    store.transact(async (transaction) => {
      const id = newIds.user();
      const at = systemClock();
      await insertUser(transaction, { id, name, email: email ?? null, isOwner: owner }, at);
      const environments = await listEnvironments(transaction);
      for (const environment of environments) {
        const role = owner ? ("owner" as const) : roles[environment.name];
        if (!role) continue;
        const access = { id: newIds.key(), role, isFromGroup: false };
        await setAccess(transaction, id, environment.id, access, at);
      }
      const unknown = Object.keys(roles).filter(
        (role) => !environments.some((environment) => environment.name === role),
      );
      assert.deepEqual(unknown, [], "environments that do not exist");
      return id;
    }),
  );

/** A new session of somebody who has an account. */
export const signInUser = async (
  where: Where,
  userId: string,
  session: Partial<NewSession> = {},
): Promise<SignedIn> => {
  const begun = await withStore(where, (store) =>
    createSessions(store, {
      clock: systemClock,
      random,
      idleTimeout: 60_000,
      lifetime: 12 * 3_600_000,
      freshFor: 60_000,
    }).begin(
      {
        keyIds: [],
        userId,
        link: null,
        method: "password",
        address: "127.0.0.1",
        agent: "a test",
        ...session,
      },
      undefined,
    ),
  );
  const cookie = `halyard_session=${begun.token}`;
  const csrf = csrfTokenOf(begun);
  const headersFor = (environment: string) => ({
    cookie,
    "x-halyard-environment": environment,
    "x-halyard-csrf": csrf,
  });
  const api = createApi(where.url);
  return {
    userId,
    sessionId: begun.id,
    cookie,
    csrf,
    headersFor,
    in: (environment) => (method, path, body, headers) =>
      api(method, path, body, { ...headersFor(environment), ...headers }),
  };
};

/** Somebody new, who is signed in. */
export const signInAs = async (where: Where, person: Person): Promise<SignedIn> =>
  signInUser(where, await addPerson(where, person));
