// The entry point "@halyard/sdk/edge": the client for runtimes that stop timers and connections between requests.
export type { EvaluationContext } from "@halyard/core/context";
export type { FlagValue, Reason } from "@halyard/core/evaluate";
export type { Flag } from "@halyard/core/flags/registry";
export type { Evaluator, Snapshot } from "./client/client-options.ts";
export type { Details, FlagMetadata } from "./details.ts";
export { createEdgeClient, type EdgeClient, type EdgeOptions } from "./edge/edge-client.ts";
export type { EdgeFlags } from "./edge/edge-flags.ts";
export type { ClientError } from "./transport/client-error.ts";
export type { Log } from "./transport/warn.ts";
