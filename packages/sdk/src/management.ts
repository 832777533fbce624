// The entry point "@halyard/sdk/management": calls of the management API and the types of what they take and return.
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
  EnvironmentPatch,
  NewEnvironment,
} from "./management/environments.ts";
export type { EvaluationError } from "./management/evaluation-errors.ts";
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
