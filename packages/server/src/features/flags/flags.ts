// Changes of flags: one, or several together, in one transaction.
import type { CreateFlag, PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import type { Caller } from "../../platform/auth/principal.ts";
import { type Failure, notFound, ok, type Result } from "../../platform/errors.ts";
import type { Precondition } from "../../platform/precondition.ts";
import type { VersionedFlag } from "../../writes/change.ts";
import type { Changes } from "../../writes/changes.ts";
import type { IdempotentRequest, IdempotentResult } from "../../writes/idempotency.ts";
import type { OperationOf } from "../../writes/operation.ts";
import type { RefusedOperation } from "../../writes/operations.ts";

export interface FlagPatch {
  readonly key: string;
  readonly patch: PatchFlag;
  readonly precondition: Precondition;
}

/** Each of them is proposed where the environment asks for a second person: the failure carries the change request then. */
export interface Flags {
  create(
    caller: Caller,
    request: CreateFlag,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedFlag>>;
  patch(
    caller: Caller,
    key: string,
    patch: PatchFlag,
    precondition: Precondition,
  ): Promise<Result<VersionedFlag>>;
  /** All of them in their order, or none. `describe` says which of them was refused. */
  patchAll(
    caller: Caller,
    patches: readonly FlagPatch[],
    describe: (refused: RefusedOperation) => Failure,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<readonly VersionedFlag[]>>;
  remove(caller: Caller, key: string, precondition: Precondition): Promise<Result<void>>;
}

export const createFlags = (changes: Changes): Flags => {
  const runOne = async (
    caller: Caller,
    operation: OperationOf<"flag">,
    precondition?: Precondition,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<VersionedFlag>> => {
    const { result, repeated } = await changes.run(caller, [{ operation, precondition }], { once });
    if (!result.ok) return { result, repeated };
    return { result: ok(result.value[0] as VersionedFlag), repeated };
  };

  return {
    create: (caller, body, once) =>
      runOne(caller, { kind: "flag", key: body.key, action: "create", body }, undefined, once),

    async patch(caller, key, body, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      const operation = { kind: "flag", key, action: "patch", body } as const;
      return (await runOne(caller, operation, precondition)).result;
    },

    async patchAll(caller, patches, describe, once) {
      const planned = patches.map(({ key, patch: body, precondition }) => ({
        operation: { kind: "flag", key, action: "patch", body } as const,
        precondition,
      }));
      const { result, repeated } = await changes.run(caller, planned, { once, describe });
      return {
        result: result.ok ? ok(result.value as readonly VersionedFlag[]) : result,
        repeated,
      };
    },

    async remove(caller, key, precondition) {
      if (!isFlagKey(key)) return notFound("The flag", key);
      const operation = { kind: "flag", key, action: "delete", body: null } as const;
      const { result } = await runOne(caller, operation, precondition);
      return result.ok ? ok(undefined) : result;
    },
  };
};
