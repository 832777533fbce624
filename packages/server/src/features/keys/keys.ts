// API keys: issue, show and revoke them.
import { createHash } from "node:crypto";
import { type ApiKey, isExpired, type NewApiKey } from "../../platform/auth/api-key.ts";
import { findKey, listKeys } from "../../platform/auth/key-queries.ts";
import {
  type Actor,
  type Caller,
  type EnvironmentRef,
  operator,
  type Principal,
  type Requester,
  type UserRef,
} from "../../platform/auth/principal.ts";
import type { Sources, Store, Transaction } from "../../platform/database/store.ts";
import { listEnvironments } from "../../platform/environments.ts";
import { conflict, fail, noEnvironment, notFound, ok, type Result } from "../../platform/errors.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../writes/idempotency.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { checkOpenRequests, createInsertRequest } from "../change-requests/insert-request.ts";
import type { ShownRequest } from "../change-requests/show.ts";
import { roleIn } from "../people/access.ts";
import { findIssuingEnvironment, insertKey, revokeKey } from "./queries.ts";
import { checkNewKey, checkPersonalKey, keyText, maxKeys, maxPersonalKeys } from "./rules.ts";

export interface CreatedKey {
  readonly apiKey: ApiKey;
  /** In a protected environment: what has to be approved before the key writes directly. */
  readonly proposed?: ShownRequest;
  /** Shown once; nobody can read it back. */
  readonly text: string;
}

export interface ApiKeys {
  /** Those that are not revoked, expired ones too. */
  list(environment: Pick<EnvironmentRef, "id">): Promise<readonly ApiKey[]>;
  /** Whether what they change is proposed, in a protected environment. */
  proposes(caller: Caller): Promise<boolean>;
  create(
    caller: Caller,
    request: NewApiKey,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<CreatedKey>>;
  /** An owner's is revoked by an owner alone. */
  revoke(caller: Caller & Pick<Principal, "role">, id: string): Promise<Result<void>>;
  /** May do what both it and the person may, at each request. */
  createPersonal(
    person: UserRef,
    caller: Caller,
    request: NewApiKey,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<CreatedKey>>;
  revokePersonal(person: UserRef, caller: Caller, id: string): Promise<Result<void>>;
  /** As the operator at the machine, who needs no key. */
  createAsOperator(environmentId: number, checked: NewApiKey): Promise<CreatedKey>;
  revokeAsOperator(environmentId: number, id: string): Promise<Result<void>>;
}

export const hashKey = (text: string): Uint8Array => createHash("sha256").update(text).digest();

/** The environment where a key of this text was ever issued, revoked or not; undefined when it was not. */
export const issuedIn = (transaction: Transaction, text: string): Promise<number | undefined> =>
  findIssuingEnvironment(transaction, hashKey(text));

const missing = (id: string): Result<never> => notFound("The API key", id);

/** The person behind a new key: who issues it, or who issued the key that issues it. */
const issuerOf = async (
  transaction: Transaction,
  { keyId, user }: Actor,
): Promise<string | null> => {
  if (user || keyId === null) return user?.id ?? null;
  return (await findKey(transaction, keyId))?.createdBy ?? null;
};

/** Writes a new key, which was checked, within a transaction; `given` is a text that the operator has chosen. */
export const issueKey = async (
  { clock, random, newIds }: Sources,
  transaction: Transaction,
  environmentId: number,
  actor: Actor,
  wanted: NewApiKey,
  given?: string,
): Promise<CreatedKey> => {
  const { expiresAt = null, origins = null, user = null, maxFlips = null } = wanted;
  const { name, role, writesDirectly = false } = wanted;
  const id = newIds.key();
  const apiKey: ApiKey = {
    id,
    name,
    role,
    createdAt: clock(),
    lastUsedAt: null,
    expiresAt,
    origins,
    user,
    writesDirectly,
    maxFlips,
    createdBy: await issuerOf(transaction, actor),
  };
  const text = given ?? keyText(apiKey.id, random(32));
  await insertKey(transaction, {
    ...apiKey,
    environmentId,
    hash: hashKey(text),
    isGiven: given !== undefined,
  });
  await transaction.record(environmentId, {
    subject: "key",
    subjectId: apiKey.id,
    version: null,
    at: apiKey.createdAt,
    actor,
    actions: ["key.created"],
    before: null,
    after: shown(apiKey),
  });
  return { apiKey, text };
};

/** A key with a limit on flips makes none that may flip more. */
const handedOn = (
  { maxFlips: own }: Pick<Caller, "maxFlips">,
  { maxFlips = null }: Pick<NewApiKey, "maxFlips">,
): number | null => (own === undefined || (maxFlips !== null && maxFlips < own) ? maxFlips : own);

export const createApiKeys = (store: Store, dependencies: Sources): ApiKeys => {
  const { clock } = dependencies;
  const insertRequest = createInsertRequest(clock, dependencies.newIds);

  /** The key is there and proposes what it writes, until another person approves that it need not. */
  const issueForApproval = async (
    transaction: Transaction,
    caller: Caller,
    checked: NewApiKey,
  ): Promise<Result<CreatedKey>> => {
    const { environment, actor } = caller;
    // Before the key is there: what is refused leaves nothing behind.
    const possible = await checkOpenRequests(transaction, environment);
    if (!possible.ok) return possible;
    const made = await issueKey(dependencies, transaction, environment.id, actor, {
      ...checked,
      writesDirectly: false,
    });
    const { id, name, role } = made.apiKey;
    const proposed = await insertRequest(transaction, caller, [
      {
        kind: "key",
        key: id,
        action: "patch",
        body: { writesDirectly: true },
        version: null,
        before: { id, name, role, writesDirectly: false },
        after: { id, name, role, writesDirectly: true },
      },
    ]);
    return proposed.ok ? ok({ ...made, proposed: proposed.value }) : proposed;
  };

  const revoke = (
    environmentId: number,
    id: string,
    requester: Requester,
    refuse: (key: ApiKey, others: readonly ApiKey[]) => Result<void>,
    isOwn: (key: ApiKey) => boolean = () => true,
  ): Promise<Result<void>> =>
    transactFor(store, requester, async (transaction) => {
      await transaction.lockEnvironment(environmentId);
      const keys = await listKeys(transaction, environmentId);
      const key = keys.find((candidate) => candidate.id === id && isOwn(candidate));
      if (!key) return missing(id);
      const refused = refuse(
        key,
        keys.filter((candidate) => candidate !== key),
      );
      if (!refused.ok) return refused;
      await revokeKey(transaction, environmentId, id, clock(), maxKeys);
      await transaction.record(environmentId, {
        subject: "key",
        subjectId: id,
        version: null,
        at: clock(),
        actor: requester.actor,
        actions: ["key.revoked"],
        before: shown(key),
        after: null,
      });
      return ok(undefined);
    });

  return {
    list: ({ id }) => listKeys(store, id),

    async proposes({ environment, writesDirectly = false }) {
      if (writesDirectly) return false;
      const known = await listEnvironments(store);
      return known.some(({ id, isProtected }) => id === environment.id && isProtected);
    },

    create: (caller, request, once) =>
      transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const { actor, environment } = caller;
          const locked = await transaction.lockEnvironment(environment.id);
          if (!locked) return noEnvironment;
          const checked = checkNewKey({ ...request, maxFlips: handedOn(caller, request) }, clock());
          if (!checked.ok) return checked;
          const keys = await listKeys(transaction, environment.id);
          if (keys.filter(({ user }) => user === null).length >= maxKeys) {
            return conflict(
              `The environment "${environment.name}" has ${maxKeys} API keys, the maximum; revoke one first.`,
            );
          }
          if (locked.state.isProtected && checked.value.writesDirectly) {
            return issueForApproval(transaction, caller, checked.value);
          }
          return ok(
            await issueKey(dependencies, transaction, environment.id, actor, checked.value),
          );
        }),
      ),

    revoke: (caller, id) =>
      revoke(caller.environment.id, id, caller, (key, others) => {
        if (key.role === "owner" && caller.role !== "owner") {
          return fail({
            code: "FORBIDDEN",
            message: `The API key "${id}" has the role owner; only an owner or the operator can revoke it.`,
          });
        }
        const isLast =
          isAdmin(key) && !others.some((other) => isAdmin(other) && !isExpired(other, clock()));
        return isLast
          ? conflict(
              `The API key "${id}" is the last admin key of the environment "${caller.environment.name}" and cannot revoke itself; create another admin key first.`,
            )
          : ok(undefined);
      }),

    createPersonal: (person, caller, request, once) =>
      transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const { actor, environment } = caller;
          if (!(await transaction.lockEnvironment(environment.id))) return noEnvironment;
          const role = await roleIn(transaction, environment.id, person.id);
          if (!role) return noEnvironment;
          const allowed = checkPersonalKey(request, role, clock());
          if (!allowed.ok) return allowed;
          const checked = checkNewKey({ ...request, user: person }, clock());
          if (!checked.ok) return checked;
          const keys = await listKeys(transaction, environment.id);
          if (keys.filter(({ user }) => user?.id === person.id).length >= maxPersonalKeys) {
            return conflict(
              `You have ${maxPersonalKeys} keys in the environment "${environment.name}", the maximum; revoke one first.`,
            );
          }
          return ok(
            await issueKey(dependencies, transaction, environment.id, actor, checked.value),
          );
        }),
      ),

    revokePersonal: (person, caller, id) =>
      revoke(
        caller.environment.id,
        id,
        caller,
        () => ok(undefined),
        ({ user }) => user?.id === person.id,
      ),

    createAsOperator: (environmentId, checked) =>
      store.transact((transaction) =>
        issueKey(dependencies, transaction, environmentId, operator, checked),
      ),

    revokeAsOperator: (environmentId, id) =>
      revoke(environmentId, id, { actor: operator }, () => ok(undefined)),
  };
};

/** A personal key ends with its person: nobody can rely on it. */
const isAdmin = ({ role, user }: ApiKey): boolean => role === "admin" && user === null;

const shown = ({ id, name, role, expiresAt, origins, user, writesDirectly, maxFlips }: ApiKey) => ({
  id,
  name,
  role,
  ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
  ...(origins && { origins }),
  ...(user && { user }),
  ...(writesDirectly && { writesDirectly }),
  ...(maxFlips !== null && { maxFlips }),
});
