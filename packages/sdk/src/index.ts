// The entry point "@halyard/sdk": the client for programs with a server key.
export type { EvaluationContext } from "@halyard/core/context";
export type { FlagValue, Reason } from "@halyard/core/evaluate";
export type { Flag } from "@halyard/core/flags/registry";
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
