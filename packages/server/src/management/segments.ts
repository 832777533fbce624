// Segments: changes of them, one transaction at a time, and reads of the last committed state.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import { rulesNaming } from "@halyard/core/targeting/references";
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { SegmentDecision, VersionedSegment } from "../domain/change.ts";
import { checkPrecondition, type Precondition } from "../domain/change-flag.ts";
import {
  type CreateSegment,
  checkCreateSegment,
  checkMembers,
  checkPatchSegment,
  decideCreateSegment,
  decideDeleteSegment,
  decideUpdateSegment,
  type ListChanges,
  type PatchSegment,
} from "../domain/change-segment.ts";
import type { Caller, EnvironmentRef } from "../domain/principal.ts";
import type { WholeSegment } from "../domain/segments.ts";
import { noEnvironment, notFound, ok, type Result } from "../errors.ts";
import type { Clock, NewIds, Store, Transaction } from "../ports.ts";
import { createCommit } from "./commit.ts";
import { type IdempotentRequest, type IdempotentResult, runIdempotent } from "./idempotency.ts";

/** A flag that names a segment, and the rules in which it does. */
export interface SegmentUse {
  readonly key: string;
  readonly rules: readonly string[];
}

export interface Segments {
  list(environment: EnvironmentRef): Promise<readonly VersionedSegment[]>;
  get(environment: EnvironmentRef, key: string): Promise<Result<WholeSegment>>;
  uses(environment: EnvironmentRef, key: string): Promise<Result<readonly SegmentUse[]>>;
  create(
    caller: Caller,
    request: CreateSegment,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedSegment>>;
  patch(
    caller: Caller,
    key: string,
    patch: PatchSegment,
    precondition: Precondition,
  ): Promise<Result<VersionedSegment>>;
  changeMembers(
    caller: Caller,
    key: string,
    request: MembersRequest,
    precondition: Precondition,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedSegment>>;
  remove(caller: Caller, key: string, precondition: Precondition): Promise<Result<void>>;
}

const what = (key: string): string => `The segment "${key}"`;

export const createSegments = (store: Store, clock: Clock, newIds: NewIds): Segments => {
  const commit = createCommit(clock, newIds);

  const onSegment = async <T>(
    transaction: Transaction,
    caller: Caller,
    key: string,
    precondition: Precondition,
    work: (
      current: VersionedSegment,
      flags: readonly string[],
      commitChange: (decision: SegmentDecision) => Promise<Result<unknown>>,
    ) => Promise<Result<T>>,
  ): Promise<Result<T>> => {
    if (!isFlagKey(key)) return notFound("The segment", key);
    const { id } = caller.environment;
    const [state, current, references, webhooks] = await Promise.all([
      transaction.lockEnvironment(id),
      transaction.segment(id, key),
      transaction.referencesTo(id, "segment", key),
      transaction.webhooks(id),
    ]);
    if (!state) return noEnvironment;
    if (!current) return notFound("The segment", key);
    const holds = checkPrecondition(what(key), current.version, current.segment, precondition);
    if (!holds.ok) return holds;
    const flags = references.map(({ flag }) => flag);
    return work(current, flags, (decision) =>
      commit(transaction, { state, webhooks }, caller, decision),
    );
  };

  const update = (
    transaction: Transaction,
    caller: Caller,
    key: string,
    precondition: Precondition,
    patch: Pick<PatchSegment, "description" | "when">,
    changesOf: () => Promise<ListChanges>,
  ): Promise<Result<VersionedSegment>> =>
    onSegment(transaction, caller, key, precondition, async (current, flags, commitChange) => {
      const decision = decideUpdateSegment(current, patch, await changesOf(), flags);
      if (!decision.ok) return decision;
      if (!decision.value) return ok(current);
      const committed = await commitChange(decision.value);
      return committed.ok ? versioned(decision.value) : committed;
    });

  return {
    list: ({ id }) => store.segments(id),

    async get({ id }, key) {
      if (!isFlagKey(key)) return notFound("The segment", key);
      const found = await store.wholeSegment(id, key);
      return found ? ok(found) : notFound("The segment", key);
    },

    async uses({ id }, key) {
      const found = isFlagKey(key) ? await store.segment(id, key) : undefined;
      if (!found) return notFound("The segment", key);
      const references = await store.referencesTo(id, "segment", key);
      const flags = await store.flagsAmong(
        id,
        references.map(({ flag }) => flag),
      );
      return ok(flags.map(({ flag }) => ({ key: flag.key, rules: rulesNaming(flag, key) })));
    },

    async create(caller, request, once) {
      return store.transact((transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const valid = checkCreateSegment(request);
          if (!valid.ok) return valid;
          const { id } = caller.environment;
          const [state, existing, lastVersion, webhooks] = await Promise.all([
            transaction.lockEnvironment(id),
            transaction.segment(id, request.key),
            transaction.lastVersion(id, "segment", request.key),
            transaction.webhooks(id),
          ]);
          if (!state) return noEnvironment;
          const decision = decideCreateSegment(state, existing, lastVersion, request);
          if (!decision.ok) return decision;
          const committed = await commit(transaction, { state, webhooks }, caller, decision.value);
          return committed.ok ? versioned(decision.value) : committed;
        }),
      );
    },

    async patch(caller, key, patch, precondition) {
      const valid = checkPatchSegment(patch);
      if (!valid.ok) return valid;
      return store.transact((transaction) =>
        update(transaction, caller, key, precondition, patch, async () => {
          if (patch.include === undefined && patch.exclude === undefined) return {};
          const whole = await transaction.wholeSegment(caller.environment.id, key);
          return replacements(patch, whole?.segment);
        }),
      );
    },

    async changeMembers(caller, key, request, precondition, once) {
      const valid = checkMembers(request);
      if (!valid.ok) return { result: valid, repeated: false };
      return store.transact((transaction) =>
        runIdempotent(transaction, once, clock, () =>
          update(transaction, caller, key, precondition, {}, () =>
            exactChanges(transaction, caller.environment.id, key, request),
          ),
        ),
      );
    },

    remove: (caller, key, precondition) =>
      store.transact((transaction) =>
        onSegment(transaction, caller, key, precondition, async (current, flags, commitChange) => {
          const whole = await transaction.wholeSegment(caller.environment.id, key);
          if (!whole) return notFound("The segment", key);
          const decision = decideDeleteSegment(current.version, whole.segment, flags);
          if (!decision.ok) return decision;
          const committed = await commitChange(decision.value);
          return committed.ok ? ok(undefined) : committed;
        }),
      ),
  };
};

/** From the members that are there to those of the request. */
const replacements = (patch: PatchSegment, before: Segment | undefined): ListChanges =>
  Object.fromEntries(
    memberLists.flatMap((list) => {
      const wanted = patch[list];
      if (wanted === undefined) return [];
      const [old, after] = [new Set(before?.[list] ?? []), new Set(wanted)];
      const added = [...after].filter((each) => !old.has(each));
      const removed = [...old].filter((each) => !after.has(each));
      return [[list, { added, removed }]];
    }),
  );

/** Without what is so already. What is both added and removed is added. */
const exactChanges = async (
  transaction: Transaction,
  environmentId: number,
  key: string,
  request: MembersRequest,
): Promise<ListChanges> => {
  const changes: Record<string, { added: string[]; removed: string[] }> = {};
  for (const list of memberLists) {
    const add = new Set(request[list]?.add ?? []);
    const remove = new Set(request[list]?.remove ?? []).difference(add);
    if (add.size + remove.size === 0) continue;
    const known = new Set(
      await transaction.membersAmong(environmentId, key, list, [...add, ...remove]),
    );
    changes[list] = {
      added: [...add.difference(known)],
      removed: [...remove.intersection(known)],
    };
  }
  return changes;
};

const versioned = ({ after, version, key }: SegmentDecision): Result<VersionedSegment> => {
  if (!after) return notFound("The segment", key);
  const { description, when, counts } = after;
  return ok({ segment: { key, description, when, counts }, version });
};
