// What the client for programs with a server key takes, and what it offers.
import type { EvaluationContext } from "@halyard/core/context";
import type { FlagValue } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import type { Segment } from "@halyard/core/targeting/segment";
import type { Details, FlagMetadata, Widened } from "../details.ts";
import type { Address } from "../transport/address.ts";
import type { ClientError } from "../transport/client-error.ts";
import type {
  ClientEvents,
  ClientState,
  Ready,
  ReadyOptions,
} from "../transport/connection-state.ts";
import type { Listeners } from "../transport/listeners.ts";
import type { Timing } from "../transport/timing.ts";
import type { Log } from "../transport/warn.ts";
import type { Cache } from "./flag-cache.ts";

/** The part of a snapshot that evaluation needs. */
export interface Snapshot {
  readonly flags: readonly { readonly flag: Flag; readonly level?: number }[];
  readonly segments?: readonly { readonly segment: Segment }[];
}

/** Values by flag key that apply instead of the server's. */
export type Overrides = Readonly<Record<string, FlagValue>>;

interface LocalOptions {
  /** Flags to use until the server's are loaded: what `flags()` or `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: readonly Flag[] | Snapshot;
  /** Values that apply whatever the flags say, for tests and local development. */
  readonly overrides?: Overrides;
  /** Stores the last known flags; they take precedence over `bootstrap`. Use one for each environment. */
  readonly cache?: Cache;
  /** False to poll only, where streams are blocked. */
  readonly streaming?: boolean;
  /** What people know this program by where the server lists who has a change; host name and process id by default. */
  readonly name?: string;
  /** False to not tell the server what this client has applied: it is not listed then. */
  readonly reportApplied?: boolean;
  /** False to send no usage counts. */
  readonly reportUsage?: boolean;
  /** True to send some of the contexts with the usage counts, so that previews of changes know whom they reach. Off by default. */
  readonly sampleContexts?: boolean;
  readonly timing?: Partial<Timing>;
  /** Where a problem is reported, once until it is over: `console.warn` by default, `false` for nowhere. */
  readonly log?: Log;
}

/** Without a server: `bootstrap` and `overrides` are all there is. */
interface NoAddress {
  readonly url?: never;
  readonly key?: never;
  readonly fetch?: never;
}

export type ClientOptions = LocalOptions & (Address | NoAddress);

export interface Evaluator {
  /** The value for this context, or the fallback (default false) when it cannot be evaluated. Never throws. */
  isEnabled(key: string, context?: EvaluationContext, fallback?: boolean): boolean;
  /** The value of a flag whose variants are texts, or the fallback. Never throws. */
  stringValue(key: string, context: EvaluationContext, fallback: string): string;
  /** The value of a flag whose variants are numbers, or the fallback. Never throws. */
  numberValue(key: string, context: EvaluationContext, fallback: number): number;
  /** The value of a flag whose variants are objects, or the fallback. Never throws. Do not change it. */
  objectValue<Value extends object>(
    key: string,
    context: EvaluationContext,
    fallback: Value,
  ): Value;
  /** The value with its variant and reason; its type is the fallback's, boolean without one. Never throws. */
  details<Value extends FlagValue = boolean>(
    key: string,
    context?: EvaluationContext,
    fallback?: Value,
  ): Details<Widened<Value>>;
  /** Every flag, sorted by key; with its `level` when it needs more than the first. */
  flags(): readonly Flag[];
}

export interface Client extends Evaluator {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** The version of the flag and its environment, for telemetry; undefined when they are not known or it is overridden. */
  flagMetadata(key: string): FlagMetadata | undefined;
  /** From now on this value applies, whatever the flag says; `undefined` ends that. Emits `change`. */
  override(key: string, value: FlagValue | undefined): void;
  /** Waits for the server's flags: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are ignored. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
}
