// The public API of the package.
export { bucketOf, isInRollout } from "@halyard/core/bucket";
export type { EvaluationContext } from "@halyard/core/context";
export type { FlagValue, Reason } from "@halyard/core/evaluate";
export type { BooleanFlag } from "@halyard/core/flags/boolean";
export type { Flag } from "@halyard/core/flags/registry";
export type { RolloutFlag } from "@halyard/core/flags/rollout";
export type { VariantFlag } from "@halyard/core/flags/variant";
export type { Condition } from "@halyard/core/targeting/conditions/condition";
export type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
export type { ListChange, Segment, SegmentSummary } from "@halyard/core/targeting/segment";
export type { Share } from "@halyard/core/targeting/split";
export type { Requirement, Rule, Serve, Targeting } from "@halyard/core/targeting/targeting";
export {
  type ContextClient,
  type ContextClientOptions,
  createContextClient,
} from "./browser-client/context-client.ts";
export { createClient } from "./client/client.ts";
export type {
  Client,
  ClientOptions,
  Evaluator,
  Overrides,
  Snapshot,
} from "./client/client-options.ts";
export type { Cache } from "./client/flag-cache.ts";
export type { Details, FlagMetadata } from "./details.ts";
export type { ApiKey, CreatedApiKey, NewApiKey, OwnApiKey } from "./management/api-keys.ts";
export type { CallOptions, ChangeOptions, CreateOptions, PostOptions } from "./management/call.ts";
export type {
  ChangePreview,
  ChangeRequest,
  ChangeRequestPage,
  ChangeRequestQuery,
  ChangeRequestState,
  ChangeRequestSummary,
  NewChangeRequest,
  NewOperation,
  ProposedOperation,
  RebasedChangeRequest,
  SegmentPreview,
} from "./management/changes/change-requests.ts";
export type {
  ClientsQuery,
  ConnectedClient,
  Programs,
  ServerInstance,
} from "./management/clients.ts";
export type {
  ClosedEnvironment,
  CreatedEnvironment,
  Environment,
  EnvironmentColor,
  EnvironmentPatch,
  NewEnvironment,
} from "./management/environments.ts";
export {
  createManagement,
  type Management,
  type ManagementOptions,
} from "./management/management.ts";
export type {
  Invitation,
  InvitedUser,
  NewPersonalKey,
  NewUser,
  PersonalKey,
  PersonRole,
  User,
  UserPatch,
} from "./management/people/people.ts";
export type {
  DeliveryQuery,
  EventQuery,
  FlagQuery,
  HistoryQuery,
  PageQuery,
  PastQuery,
} from "./management/queries.ts";
export type {
  Actor,
  AttemptTotals,
  Bypass,
  CreatedWebhook,
  Delivery,
  DeliveryAttempt,
  DetailedWebhookHealth,
  EventName,
  FlagEventName,
  FlagHistoryEntry,
  FlagPatch,
  FlagUsage,
  HistoryEntry,
  HistoryVerification,
  LastChange,
  NewFlag,
  NewWebhook,
  Replay,
  ReplayRange,
  RetriedDeliveries,
  Reviewed,
  Role,
  RotatedSecret,
  SentDelivery,
  UsageHour,
  UsageSummary,
  UserRef,
  Webhook,
  WebhookHealth,
  WebhookPatch,
} from "./management/resources.ts";
export type {
  Failure,
  ManagementError,
  ManagementErrorCode,
  Result,
  Success,
} from "./management/result.ts";
export type {
  ChangedFlags,
  ExplainRequest,
  FlagChange,
  FlagExplanation,
  MemberChanges,
  NewSegment,
  SegmentMembers,
  SegmentPatch,
  SegmentUse,
  SnapshotContent,
} from "./management/segments.ts";
export type {
  ChangeRequestEvent,
  FlagCreatedEvent,
  FlagDeletedEvent,
  FlagDisabledEvent,
  FlagEnabledEvent,
  FlagUpdatedEvent,
  SegmentCreatedEvent,
  SegmentDeletedEvent,
  SegmentUpdatedEvent,
  WebhookEvent,
  WebhookTestEvent,
} from "./management/webhook-event.ts";
export type { Address } from "./transport/address.ts";
export type { ClientError } from "./transport/client-error.ts";
export type {
  ClientEvents,
  ClientState,
  Ready,
  ReadyOptions,
} from "./transport/connection-state.ts";
export type { Timing } from "./transport/timing.ts";
export type { Log } from "./transport/warn.ts";
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from "./webhooks/verify-webhook.ts";
