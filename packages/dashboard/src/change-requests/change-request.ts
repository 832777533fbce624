// A change request as the server tells it, and what its states mean.
import type { Actor } from "@halyard/sdk";
import type { Session } from "../api.ts";
import type { Tone } from "../components/display/status-badge.tsx";
import type { Api } from "../session.tsx";

export type RequestState = "open" | "approved" | "applied" | "refused" | "withdrawn";

type Fields = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly kind: "flag" | "segment" | "environment" | "key";
  readonly key: string;
  readonly action: "create" | "patch" | "delete" | "members";
  /** Of the flag or segment when it was proposed. */
  readonly version: number | null;
  readonly body: unknown;
  readonly before: Fields | null;
  readonly after: Fields | null;
}

export interface ChangeRequest {
  readonly id: string;
  readonly environment: string;
  readonly state: RequestState;
  readonly title: string;
  readonly reason: string | null;
  readonly author: Actor;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it is to be applied once it is approved; null for at once. */
  readonly applyAt: string | null;
  readonly operations: readonly Operation[];
  /** The keys of what somebody has changed since. */
  readonly moved: readonly string[];
  readonly approvals: readonly {
    readonly actor: Actor;
    readonly at: string;
    readonly state: "given" | "voided";
  }[];
  readonly comments: readonly {
    readonly id: string;
    readonly actor: Actor;
    readonly at: string;
    readonly text: string;
  }[];
  readonly appliedAt: string | null;
  readonly appliedRevision: number | null;
  /** Who applied it without an approval, and why. */
  readonly bypass: { readonly actor: Actor; readonly reason: string } | null;
}

export const requestStates: readonly RequestState[] = [
  "open",
  "approved",
  "applied",
  "refused",
  "withdrawn",
];

export const toneOf = ({ state, moved }: Pick<ChangeRequest, "state" | "moved">): Tone => {
  if (state === "applied") return "good";
  if (state === "refused") return "bad";
  if (state === "withdrawn") return "quiet";
  return moved.length > 0 ? "bad" : "waiting";
};

/** Somebody can still do something about it. */
export const isPending = ({ state }: Pick<ChangeRequest, "state">): boolean =>
  state === "open" || state === "approved";

/** Whether whoever is signed in proposed it: nobody approves their own. */
export const isOwn = (
  { author }: Pick<ChangeRequest, "author">,
  session: Session | undefined,
  { environment }: Api,
): boolean =>
  session?.user
    ? author.user?.id === session.user.id
    : author.keyId !== null && author.keyId === environment.keyId;

export const touches = (
  { operations }: Pick<ChangeRequest, "operations">,
  kind: Operation["kind"],
  key: string,
): boolean => operations.some((each) => each.kind === kind && each.key === key);
