// Segments: changes of them, one transaction at a time, and reads of the last committed state.
import { isFlagKey } from "@halyard/core/flags/rules";
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import { rulesNaming } from "@halyard/core/targeting/references";
import type { VersionedSegment } from "../domain/change.ts";
import type { Precondition } from "../domain/change-flag.ts";
import type { OperationOf } from "../domain/change-requests/operation.ts";
import type { CreateSegment, PatchSegment } from "../domain/change-segment.ts";
import type { Caller, EnvironmentRef } from "../domain/principal.ts";
import type { WholeSegment } from "../domain/segments.ts";
import { notFound, ok, type Result } from "../errors.ts";
import type { Store } from "../ports.ts";
import type { Changes } from "./change-requests/changes.ts";
import type { IdempotentRequest, IdempotentResult } from "./idempotency.ts";

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

export const createSegments = (store: Store, changes: Changes): Segments => {
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
