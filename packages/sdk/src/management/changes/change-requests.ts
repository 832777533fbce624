// Change requests and previews, as requests and responses contain them.
import type { Preview } from "@halyard/core/preview/preview";
import type { Actor } from "../resources.ts";
import type { SegmentMembers, SegmentPatch } from "../segments.ts";

/** `approved` waits for its time; `applied`, `refused` and `withdrawn` are final. */
export type ChangeRequestState = "open" | "approved" | "applied" | "refused" | "withdrawn";

/** A change of one flag, segment, key, or environment. A later operation can build on an earlier one. */
export interface NewOperation {
  /** A key by its id, the environment by its name. */
  readonly kind: "flag" | "segment" | "key" | "environment";
  readonly key: string;
  readonly action: "create" | "patch" | "members" | "delete";
  /** Only when the flag or segment is at this version. */
  readonly version?: number | null;
  /** The body of the call that would apply it directly. */
  readonly body?: object | null;
}

export interface ProposedOperation extends NewOperation {
  /** That it was made for; null for what did not exist then, or has no versions. */
  readonly version: number | null;
}

export interface NewChangeRequest {
  /** At most 100, applied together. */
  readonly operations: readonly NewOperation[];
  readonly reason?: string;
  /** When it is applied once it is approved; without it at once. */
  readonly applyAt?: string | null;
}

export interface ChangeRequestSummary {
  readonly id: string;
  readonly environment: string;
  readonly state: ChangeRequestState;
  /** A short summary. */
  readonly title: string;
  readonly reason: string | null;
  readonly author: Actor;
  /** The ids of the people and keys whose request it is: none of them can approve it. */
  readonly authors: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly applyAt: string | null;
  readonly appliedAt: string | null;
  readonly appliedRevision: number | null;
  /** Who refused, withdrew or applied it. */
  readonly closedBy: Actor | null;
  /** The owner who bypassed the approval, and the reason. */
  readonly bypass: { readonly actor: Actor; readonly reason: string } | null;
  /** The keys of what has changed since the request was created: it cannot be applied then. */
  readonly moved: readonly string[];
  readonly operations: readonly ProposedOperation[];
}

export interface ChangeRequest extends ChangeRequestSummary {
  readonly operations: readonly (ProposedOperation & {
    readonly body: object | null;
    readonly before: Readonly<Record<string, unknown>> | null;
    readonly after: Readonly<Record<string, unknown>> | null;
  })[];
  /** Of its operations, reason and time: sent with an approval, it limits the approval to what was reviewed. */
  readonly digest: string;
  readonly approvals: readonly {
    readonly actor: Actor;
    readonly at: string;
    /** Editing voids it. */
    readonly state: "given" | "voided";
  }[];
  /** The number of approvals that the request needs, unless an owner approves. */
  readonly approvalsNeeded: number;
  readonly comments: readonly {
    readonly id: number;
    readonly actor: Actor;
    readonly at: string;
    readonly text: string;
  }[];
}

export interface RebasedChangeRequest {
  readonly request: ChangeRequest;
  /** What was different when the request was made. */
  readonly difference: readonly {
    readonly kind: string;
    readonly key: string;
    readonly was: unknown;
    readonly is: unknown;
  }[];
}

export interface ChangeRequestQuery {
  readonly state?: ChangeRequestState;
  /** 1 to 100; 50 by default. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

export interface ChangeRequestPage {
  readonly requests: readonly ChangeRequestSummary[];
  readonly next: string | null;
}

/** The users that a change would affect, estimated from recently evaluated contexts. */
export interface ChangePreview extends Omit<Preview, "examples"> {
  /** The environment's revision that the preview is based on. */
  readonly revision: number;
  /** One context for each targeting key; null when sampling is off. */
  readonly sample: {
    readonly contexts: number;
    readonly since: string;
    readonly until: string;
    /** How many of them came with client keys. */
    readonly fromClientKeys: number;
  } | null;
  /** For roles below admin: counts have noise and are rounded to tens, and 0 stands for fewer than about 20. */
  readonly rounded?: true;
  /** At most 20; absent for roles below admin. */
  readonly examples?: Preview["examples"];
}

/** A change of a segment to preview. */
export type SegmentPreview =
  | { readonly patch: SegmentPatch }
  | { readonly members: SegmentMembers };
