// Segments: changes of them, one transaction at a time, and reads of the last committed state.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import { rulesNaming } from "@halyard/core/targeting/references";
import type { SegmentState } from "@halyard/core/targeting/segment";
import type { Caller, EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Store } from "../../platform/database/store.ts";
import { noEnvironment, notFound, ok, type Result } from "../../platform/errors.ts";
import type { Precondition } from "../../platform/precondition.ts";
import type { VersionedFlag, VersionedSegment } from "../../writes/change.ts";
import type { Changes } from "../../writes/changes.ts";
import type { IdempotentRequest, IdempotentResult } from "../../writes/idempotency.ts";
import type { OperationOf } from "../../writes/operation.ts";
import type { CreateSegment, PatchSegment } from "./rules.ts";

/** A flag that names a segment, and the rules in which it does. */
export interface SegmentUse {
  readonly key: string;
  readonly rules: readonly string[];
}

/** A segment in memory: the same object for as long as the segment stays as it is. */
export interface SegmentInMemory {
  readonly state: SegmentState;
  readonly version: number;
}

export interface SegmentMemory {
  readonly get: (
    environmentId: number,
  ) =>
    | { segments(): readonly SegmentInMemory[]; get(key: string): VersionedFlag | undefined }
    | undefined;
  /** When it resolves, all that was committed before the call is in memory. */
  readonly current: () => Promise<void>;
}

const summaryOf = ({ state, version }: SegmentInMemory): VersionedSegment => {
  const { include, exclude, ...rest } = state;
  const counts = { include: include.size, exclude: exclude.size };
  return { segment: { ...rest, counts }, version };
};

export interface Segments {
  list(environment: EnvironmentRef): Promise<Result<readonly VersionedSegment[]>>;
  /** From memory, where its members change in place: read it before the next await. */
  get(environment: EnvironmentRef, key: string): Promise<Result<SegmentInMemory>>;
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

export const createSegments = (
  store: Pick<Store, "referencesTo">,
  { get, current }: SegmentMemory,
  changes: Changes,
): Segments => {
  const find = async ({ id }: EnvironmentRef, key: string): Promise<Result<SegmentInMemory>> => {
    await current();
    const found = get(id)
      ?.segments()
      .find(({ state }) => state.key === key);
    return found ? ok(found) : notFound("The segment", key);
  };

  const run = async (
    caller: Caller,
    operation: OperationOf<"segment">,
    precondition?: Precondition,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedSegment>> => {
    if (operation.action !== "create" && !isFlagKey(operation.key)) {
      return { result: notFound("The segment", operation.key), repeated: false };
    }
    const { result, repeated } = await changes.run(caller, [{ operation, precondition }], { once });
    if (!result.ok) return { result, repeated };
    return { result: ok(result.value[0] as VersionedSegment), repeated };
  };

  return {
    async list({ id }) {
      await current();
      const memory = get(id);
      return memory ? ok(memory.segments().map(summaryOf)) : noEnvironment;
    },

    get: find,

    async uses(environment, key) {
      const found = await find(environment, key);
      if (!found.ok) return found;
      const references = await store.referencesTo(environment.id, "segment", key);
      const memory = get(environment.id);
      const uses = references.flatMap(({ flag }) => {
        const entry = memory?.get(flag);
        return entry ? [{ key: flag, rules: rulesNaming(entry.flag, key) }] : [];
      });
      return ok(uses);
    },

    create: (caller, body, once) =>
      run(caller, { kind: "segment", key: body.key, action: "create", body }, undefined, once),

    async patch(caller, key, body, precondition) {
      const operation = { kind: "segment", key, action: "patch", body } as const;
      return (await run(caller, operation, precondition)).result;
    },

    changeMembers: (caller, key, body, precondition, once) =>
      run(caller, { kind: "segment", key, action: "members", body }, precondition, once),

    async remove(caller, key, precondition) {
      const operation = { kind: "segment", key, action: "delete", body: null } as const;
      const { result } = await run(caller, operation, precondition);
      return result.ok ? ok(undefined) : result;
    },
  };
};
