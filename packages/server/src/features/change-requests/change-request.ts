// A change request: a list of operations that a second person approves, and what may happen to it in which state.
import { actorText } from "@halyard/core/history/actor-text";
import { type Actor, type Caller, needsFreshSignIn } from "../../platform/auth/principal.ts";
import {
  conflict,
  type Failure,
  fail,
  invalid,
  ok,
  type Result,
  signInAgain,
} from "../../platform/errors.ts";
import {
  isOfProtection,
  type Operation,
  type OperationKind,
  permissionFor,
} from "../../writes/operation.ts";

export const requestStates = ["open", "approved", "applied", "refused", "withdrawn"] as const;
export type RequestState = (typeof requestStates)[number];

/** An operation with the version that it was made for, and what it would do then. */
export type ProposedOperation = Operation & {
  /** Null for what did not exist, and for what has no versions. */
  readonly version: number | null;
  readonly before: unknown;
  readonly after: unknown;
};

/** Without what the preview added. */
export const operationOf = ({
  version: _version,
  before: _before,
  after: _after,
  ...operation
}: ProposedOperation): Operation => operation as Operation;

export interface Approval {
  readonly actor: Actor;
  readonly at: Date;
  /** A request that was edited needs a new one, and so does one whose approver may no longer review. */
  readonly state: "given" | "voided";
}

export interface Comment {
  readonly id: number;
  readonly actor: Actor;
  readonly at: Date;
  readonly text: string;
}

/** Without its operations' bodies and its discussion, as lists show it. */
export interface RequestSummary {
  readonly id: string;
  readonly environment: string;
  readonly state: RequestState;
  readonly title: string;
  readonly reason: string | null;
  readonly author: Actor;
  /** The ids of the people and keys whose request it is: none of them can approve it. */
  readonly authors: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it is applied once it is approved; null for at once. */
  readonly applyAt: Date | null;
  readonly appliedAt: Date | null;
  /** The environment's revision after its last operation. */
  readonly appliedRevision: number | null;
  /** Who refused, withdrew or applied it. */
  readonly closedBy: Actor | null;
  /** The owner who applied it without an approval, and why. */
  readonly bypass: { readonly actor: Actor; readonly reason: string } | null;
  readonly operations: readonly Pick<ProposedOperation, "kind" | "key" | "action" | "version">[];
}

export interface ChangeRequest extends RequestSummary {
  readonly operations: readonly ProposedOperation[];
  readonly approvals: readonly Approval[];
  readonly comments: readonly Comment[];
}

/** What is written of one: the rest are rows of their own. */
export type RequestRow = Omit<ChangeRequest, "environment" | "approvals" | "comments">;

export interface RequestQuery {
  readonly states?: readonly RequestState[];
  readonly limit: number;
  /** Only those older than this one. */
  readonly before?: { readonly id: string; readonly at: Date };
}

export interface DueRequest {
  readonly id: string;
  readonly environmentId: number;
}

/** The versions of what is there, by its key. */
export type Versions = ReadonlyMap<string, number>;

/** In one environment, counted under its lock. */
export const maxOpenRequests = 1_000;
export const maxComments = 1_000;
export const maxCommentLength = 4_000;
/** Beyond so many bytes of JSON a request is kept without its preview. */
export const maxPreviewBytes = 1_048_576;
const longestDelay = 366 * 24 * 60 * 60 * 1_000;

export const isRequestId = (text: string): boolean => /^cr_[0-9a-f]{16}$/.test(text);

/** Also among the authors when a key was used by the operator's link, which makes an owner of whoever has it. */
export const operatorIdentity = "operator";

/** Who somebody is when it comes to approving: a person with whatever session or key, or else the key itself. */
export const identityOf = ({ keyId, user }: Actor): string => user?.id ?? keyId ?? operatorIdentity;

const verbs = { create: "Create", patch: "Change", members: "Change", delete: "Delete" } as const;

const phrase = ({ kind, key, action, body }: Operation): string => {
  switch (kind) {
    case "key":
      return body.writesDirectly
        ? `Let the key ${key} write directly`
        : `Stop the key ${key} from writing directly`;
    case "environment":
      return `${body.protected ? "Protect" : "Take the protection off"} ${key}`;
    default:
      return `${verbs[action]} the ${kind} ${key}`;
  }
};

/** What it does in a few words: the first operation, and how many more. What weakens the protection does not hide among them. */
export const titleOf = (operations: readonly Operation[]): string => {
  const first = operations.find(isOfProtection) ?? operations[0];
  const more = operations.length - 1;
  return first ? `${phrase(first)}${more > 0 ? ` and ${more} more` : ""}` : "";
};

/** Kept without before and after when those are too large. */
export const withinPreview = (
  operations: readonly ProposedOperation[],
): readonly ProposedOperation[] =>
  Buffer.byteLength(JSON.stringify(operations)) <= maxPreviewBytes
    ? operations
    : operations.map((operation) => ({ ...operation, before: null, after: null }));

const isPending = ({ state }: Pick<ChangeRequest, "state">): boolean =>
  state === "open" || state === "approved";

const past = { applied: "was applied", refused: "was refused", withdrawn: "was withdrawn" };

/** Whether something can still become of it. */
export const checkPending = ({ id, state }: ChangeRequest): Result<void> =>
  state === "open" || state === "approved"
    ? ok(undefined)
    : conflict(`The change request "${id}" ${past[state]} already.`);

export const forbidden = (message: string): Result<never> => fail({ code: "FORBIDDEN", message });

/** Only those whose request it is edit, rebase and withdraw it. */
export const checkAuthor = (request: ChangeRequest, actor: Actor): Result<void> =>
  request.authors.includes(identityOf(actor))
    ? ok(undefined)
    : forbidden(`Only ${actorText(request.author)}, who made this change request, may do this.`);

/** An owner who says why. */
export const checkBypass = ({
  role,
  reason,
  isStale = false,
}: Pick<Caller, "role" | "reason" | "isStale">): Result<string> => {
  if (role !== "owner") {
    return forbidden("Only an owner may change a protected environment without an approval.");
  }
  if (isStale) return fail(signInAgain);
  return reason === undefined
    ? invalid("reason", "is required to go past the approval")
    : ok(reason);
};

/** Whether its time has come. */
export const isDue = ({ applyAt }: Pick<ChangeRequest, "applyAt">, now: Date): boolean =>
  applyAt === null || applyAt <= now;

export const checkTime = (applyAt: Date | null | undefined, now: Date): Result<void> =>
  applyAt && applyAt.getTime() - now.getTime() > longestDelay
    ? invalid("applyAt", "must be at most a year ahead")
    : ok(undefined);

/** The permissions that its author must still have. */
export const neededFor = (operations: readonly { readonly kind: OperationKind }[]) => [
  ...new Set(operations.map(({ kind }) => permissionFor[kind])),
];

/** What would need a fresh sign-in by itself needs one in a list too, to propose it and to approve it. */
export const checkFresh = (
  { isStale = false }: Pick<Caller, "isStale">,
  operations: readonly { readonly kind: OperationKind }[],
): Result<void> =>
  isStale && neededFor(operations).some(needsFreshSignIn) ? fail(signInAgain) : ok(undefined);

/** The first operation on each thing: later ones build on it. */
export const firstOfEach = <T extends Pick<Operation, "kind" | "key">>(
  operations: readonly T[],
): readonly T[] => {
  const first = new Map<string, T>();
  for (const each of operations) {
    const name = `${each.kind} ${each.key}`;
    if (!first.has(name)) first.set(name, each);
  }
  return [...first.values()];
};

/** The keys of what is no longer at the version that the request was made for. */
export const movedOf = (
  request: Pick<RequestSummary, "state" | "operations">,
  versions: Readonly<Record<"flag" | "segment", Versions>>,
): readonly string[] =>
  isPending(request)
    ? firstOfEach(request.operations)
        .filter(({ kind, key, version }) =>
          kind === "flag" || kind === "segment"
            ? (versions[kind].get(key) ?? null) !== version
            : false,
        )
        .map(({ key }) => key)
    : [];

/** Refused because of what has changed since. */
export const movedOn = (moved: readonly string[]): Failure => ({
  code: "CONFLICT",
  message: `${moved.map((key) => `"${key}"`).join(", ")} changed after this request was made; rebase it, and look at it again.`,
  details: moved.map((key) => ({ field: key, message: "changed after this request was made" })),
});
