// The events that a webhook receives, a union discriminated by `type`.
import type { ChangeRequestEventType } from "@halyard/core/event-types";
import type { Flag, PatchFlag } from "@halyard/core/flags/registry";
import type { ListChange, SegmentSummary } from "@halyard/core/targeting/segment";
import type { ChangeRequestState, ProposedOperation } from "./changes/change-requests.ts";
import type { Actor, Bypass, Reviewed } from "./resources.ts";

interface EventEnvelope<Type extends string, Data> {
  /** The same in every retry and replay: ignore an event whose id you have seen. */
  readonly id: string;
  readonly type: Type;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
  readonly environment: string;
  readonly data: Data;
  /** The API key or the person that made the change; `keyId` is null for a person and for an operator's command. */
  readonly actor: Actor;
  /** The reason of the change, if it has one. */
  readonly reason?: string;
  /** The change request that it was part of, and who approved it. */
  readonly changeRequest?: Reviewed;
  /** The owner who bypassed the approval. */
  readonly bypass?: Bypass;
}

interface FlagEventOf<Type extends string, Previous>
  extends EventEnvelope<
    Type,
    {
      readonly flag: Flag;
      /** Counts the changes of this flag. */
      readonly version: number;
      /** The old values of the changed fields. */
      readonly previous: Previous;
    }
  > {
  /** Counts the events of the environment, without gaps. */
  readonly sequence: number;
  /** The chain of the environment's history at the entry of this change: store it, to find out later whether history was rewritten. Events from before there was a chain have none. */
  readonly chain?: string;
}

type Nothing = Readonly<Record<string, never>>;

export type FlagCreatedEvent = FlagEventOf<"flag.created", Nothing>;
export type FlagEnabledEvent = FlagEventOf<"flag.enabled", { readonly enabled: false }>;
export type FlagDisabledEvent = FlagEventOf<"flag.disabled", { readonly enabled: true }>;
export type FlagUpdatedEvent = FlagEventOf<"flag.updated", Omit<PatchFlag, "enabled">>;
/** Its `flag` is the last state before the deletion. */
export type FlagDeletedEvent = FlagEventOf<"flag.deleted", Nothing>;

interface SegmentEventOf<Type extends string, Previous>
  extends EventEnvelope<
    Type,
    {
      /** With the counts of its members. */
      readonly segment: SegmentSummary;
      /** Counts the changes of this segment. */
      readonly version: number;
      /** The old values of the changed fields. */
      readonly previous: Previous;
      /** Which targeting keys were added and removed; absent if the list is unchanged. */
      readonly include?: ListChange;
      readonly exclude?: ListChange;
      /** Members changed, but they are too many for an event: read the segment. */
      readonly membersOmitted?: true;
      /** The keys of up to 1,000 flags that reference it. */
      readonly flags: readonly string[];
    }
  > {
  /** Counts the events of the environment, without gaps. */
  readonly sequence: number;
  /** The chain of the environment's history at the entry of this change: store it, to find out later whether history was rewritten. Events from before there was a chain have none. */
  readonly chain?: string;
}

export type SegmentCreatedEvent = SegmentEventOf<"segment.created", Nothing>;
export type SegmentUpdatedEvent = SegmentEventOf<
  "segment.updated",
  Partial<Omit<SegmentSummary, "key">>
>;
/** Its `segment` is the last state before the deletion. */
export type SegmentDeletedEvent = SegmentEventOf<"segment.deleted", Nothing>;

/** An action on a change request. */
export interface ChangeRequestEvent
  extends EventEnvelope<
    ChangeRequestEventType,
    {
      readonly changeRequest: {
        readonly id: string;
        readonly state: ChangeRequestState;
        readonly title: string;
        readonly reason?: string;
        readonly author: Actor;
        readonly createdAt: string;
        readonly applyAt: string | null;
        readonly appliedRevision: number | null;
        /** Without bodies: once it is applied, the events of flags and segments have them. */
        readonly operations: readonly Pick<
          ProposedOperation,
          "kind" | "key" | "action" | "version"
        >[];
      };
      readonly comment?: string;
    }
  > {
  /** Counts the events of the environment, without gaps. */
  readonly sequence: number;
  /** The chain of the environment's history at the entry of this change: store it, to find out later whether history was rewritten. Events from before there was a chain have none. */
  readonly chain?: string;
}

/** Sent on request only: it has no sequence number, and its `data` describes the webhook. */
export interface WebhookTestEvent
  extends EventEnvelope<
    "webhook.test",
    {
      readonly webhook: {
        readonly id: string;
        readonly url: string;
        readonly events: readonly string[];
      };
    }
  > {
  readonly sequence: null;
  readonly chain: null;
}

/** Later versions may send other types: ignore them in a `default` branch. */
export type WebhookEvent =
  | FlagCreatedEvent
  | FlagEnabledEvent
  | FlagDisabledEvent
  | FlagUpdatedEvent
  | FlagDeletedEvent
  | SegmentCreatedEvent
  | SegmentUpdatedEvent
  | SegmentDeletedEvent
  | ChangeRequestEvent
  | WebhookTestEvent;
