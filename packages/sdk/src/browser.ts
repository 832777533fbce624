// The entry point "@halyard/sdk/browser": the client for pages and other programs with a client key.
export type { EvaluationContext } from "@halyard/core/context";
export type { FlagValue, Reason } from "@halyard/core/evaluate";
export {
  type ContextClient,
  type ContextClientOptions,
  createContextClient,
} from "./browser-client/context-client.ts";
export type { Details, FlagMetadata } from "./details.ts";
export type { FlagKey, FlagValues, ValueOf } from "./flag-types.ts";
export type {
  TrackDetails,
  TrackedEvaluation,
  TrackedEvent,
  TrackingOptions,
} from "./tracking.ts";
export type { ClientError } from "./transport/client-error.ts";
export type {
  ClientEvents,
  ClientState,
  Ready,
  ReadyOptions,
  Transport,
} from "./transport/connection-state.ts";
export type { TimingOptions } from "./transport/timing.ts";
export type { Log } from "./transport/warn.ts";
