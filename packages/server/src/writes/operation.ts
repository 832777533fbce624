// An operation: what somebody wants to do to one thing of an environment. A list of them is applied, or proposed.
import type { CreateFlag, PatchFlag } from "@halyard/core/flags/registry";
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import type { CreateSegment, PatchSegment } from "../features/segments/rules.ts";
import type { Caller, Permission } from "../platform/auth/principal.ts";
import type { Result } from "../platform/errors.ts";
import type { Precondition } from "../platform/precondition.ts";
import type { Decision, EnvironmentState } from "./change.ts";

/** What can be done to each kind of thing, and what the operation carries then. */
export interface OperationBodies {
  readonly flag: {
    readonly create: CreateFlag;
    readonly patch: PatchFlag;
    readonly delete: null;
  };
  readonly segment: {
    readonly create: CreateSegment;
    readonly patch: PatchSegment;
    readonly members: MembersRequest;
    readonly delete: null;
  };
  /** By its id: from then on it changes the environment without a change request. */
  readonly key: { readonly patch: { readonly writesDirectly: boolean } };
  readonly environment: { readonly patch: { readonly protected: boolean } };
}
export type OperationKind = keyof OperationBodies;

export type OperationOf<K extends OperationKind> = {
  readonly [A in keyof OperationBodies[K]]: {
    readonly kind: K;
    readonly key: string;
    readonly action: A;
    readonly body: OperationBodies[K][A];
  };
}[keyof OperationBodies[K]];
export type Operation = { readonly [K in OperationKind]: OperationOf<K> }[OperationKind];
export type OperationAction = Operation["action"];

/** An operation, and what must be so for it. */
export interface Planned {
  readonly operation: Operation;
  readonly precondition: Precondition;
}

/** What becomes of one thing. */
export interface Decided {
  /** Undefined when nothing changes. */
  readonly decision: Decision | undefined;
  /** Before; null for what did not exist. */
  readonly version: number | null;
  /** As it is then; null when it is gone. */
  readonly value: unknown;
}

/** From the environment as it is, and what must be so. */
export type Decide = (
  state: EnvironmentState,
  precondition: Precondition,
) => Promise<Result<Decided>>;

/** At most so many in one list. */
export const maxOperations = 100;

/** What it takes to do it, or to propose it. */
export const permissionFor = {
  flag: "flags.write",
  segment: "segments.write",
  key: "keys.write",
  environment: "environments.write",
} as const satisfies Readonly<Record<OperationKind, Permission>>;

/** Those that weaken the protection itself are approved whoever asks for them. */
export const isOfProtection = ({ kind }: Operation): boolean =>
  kind === "key" || kind === "environment";

/** Whether the environment asks for a second person. */
export const needsApproval = (
  { isProtected }: Pick<EnvironmentState, "isProtected">,
  { writesDirectly = false }: Pick<Caller, "writesDirectly">,
  operations: readonly Operation[],
): boolean => isProtected && (!writesDirectly || operations.some(isOfProtection));
