// The options of the client for programs with a server key, and its calls.
/// <reference lib="esnext.disposable" preserve="true" />
import type { EvaluationContext } from "@halyard/core/context";
import type { FlagValue } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import type { Segment } from "@halyard/core/targeting/segment";
import type { Details, FlagMetadata, ReadOnly, Widened } from "../details.ts";
import type {
  AnyFlags,
  FlagKey,
  FlagValues,
  UndeclaredKey,
  ValueOf,
  VariantOf,
} from "../flag-types.ts";
import type { TrackDetails, TrackingOptions } from "../tracking.ts";
import type { Address } from "../transport/address.ts";
import { commonKinds, type OptionKinds } from "../transport/check-options.ts";
import type { ClientError } from "../transport/client-error.ts";
import type {
  ClientEvents,
  ClientState,
  Ready,
  ReadyOptions,
  Transport,
} from "../transport/connection-state.ts";
import type { Listeners } from "../transport/listeners.ts";
import type { TimingOptions } from "../transport/timing.ts";
import type { Log } from "../transport/warn.ts";
import type { Cache } from "./flag-cache.ts";

/** The part of a snapshot that evaluation needs. */
export interface Snapshot {
  readonly flags: readonly { readonly flag: Flag; readonly level?: number }[];
  readonly segments?: readonly { readonly segment: Segment }[];
}

/** Values by flag key that apply instead of the server's. */
export type Overrides<Flags = AnyFlags> = FlagValues<Flags>;

interface LocalOptions<Flags> extends TrackingOptions {
  /** Flags to use until the server's are loaded: what `flags()` or `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: readonly Flag[] | Snapshot;
  /** Values that apply instead of the flags', for tests and local development. */
  readonly overrides?: Overrides<Flags>;
  /** For tests without a server: true to throw when a flag is evaluated that is neither in `overrides` nor in `bootstrap`. */
  readonly strict?: boolean;
  /** Stores the last known flags; they take precedence over `bootstrap`. Use one for each environment. */
  readonly cache?: Cache;
  /** False to poll only, where streams are blocked. */
  readonly streaming?: boolean;
  /** The name of this program in the server's list of clients; host name and process id by default. */
  readonly name?: string;
  /** False to not report which revision this client has applied: the server then doesn't list it. */
  readonly reportApplied?: boolean;
  /** False to send no usage counts. */
  readonly reportUsage?: boolean;
  /** True to send some contexts with the usage counts, for previews of changes. Off by default. */
  readonly sampleContexts?: boolean;
  readonly timing?: TimingOptions;
  /** Receives each problem once until it is over: `console.warn` by default; `false` logs nothing. */
  readonly log?: Log;
}

/** Without a server, a client evaluates `bootstrap` and `overrides` only. */
interface NoAddress {
  readonly url?: never;
  readonly key?: never;
  readonly fetch?: never;
}

export type ClientOptions<Flags = AnyFlags> = LocalOptions<Flags> & (Address | NoAddress);

export const clientOptionKinds: OptionKinds<ClientOptions> = {
  ...commonKinds,
  bootstrap: "array or object",
  overrides: "object",
  strict: "boolean",
  cache: "object",
  name: "string",
  reportApplied: "boolean",
  sampleContexts: "boolean",
};

/** Its calls never throw, unless the option `strict` is set. */
export interface Evaluator<Flags = AnyFlags> {
  /** The value for this context, or the fallback (default false) when it cannot be evaluated. */
  isEnabled(key: FlagKey<Flags, boolean>, context?: EvaluationContext, fallback?: boolean): boolean;
  /** The value of a flag whose variants are strings, or the fallback. */
  stringValue<Key extends FlagKey<Flags, string>>(
    key: Key,
    context: EvaluationContext,
    fallback: ValueOf<Flags, Key, string>,
  ): ValueOf<Flags, Key, string>;
  /** The value of a flag whose variants are numbers, or the fallback. */
  numberValue<Key extends FlagKey<Flags, number>>(
    key: Key,
    context: EvaluationContext,
    fallback: ValueOf<Flags, Key, number>,
  ): ValueOf<Flags, Key, number>;
  /** The value of a flag whose variants are objects, or the fallback. The flag's value is frozen. */
  objectValue<Value extends object>(
    key: UndeclaredKey<Flags>,
    context: EvaluationContext,
    fallback: Value,
  ): ReadOnly<Value>;
  objectValue<Key extends FlagKey<Flags, object>>(
    key: Key,
    context: EvaluationContext,
    fallback: ValueOf<Flags, Key, object>,
  ): ReadOnly<ValueOf<Flags, Key, object>>;
  /** The value with its variant and reason; its type is the fallback's, boolean without one. */
  details<Value extends FlagValue = boolean>(
    key: UndeclaredKey<Flags>,
    context?: EvaluationContext,
    fallback?: Value,
  ): Details<Widened<Value>>;
  details<Key extends FlagKey<Flags, boolean>>(
    key: Key,
    context?: EvaluationContext,
    fallback?: boolean,
  ): Details<boolean, VariantOf<Flags, Key>>;
  details<Key extends FlagKey<Flags>>(
    key: Key,
    context: EvaluationContext | undefined,
    fallback: ValueOf<Flags, Key>,
  ): Details<ValueOf<Flags, Key>, VariantOf<Flags, Key>>;
  /**
   * The values of these flags, or of all, for this context: for the `bootstrap` of a page's client. Flags that cannot be
   * evaluated are omitted. Not counted as usage: the page counts what it evaluates.
   */
  values(context: EvaluationContext, keys?: readonly FlagKey<Flags>[]): FlagValues<Flags>;
  /** Every flag, sorted by key; with its `level` when it needs more than the first. */
  flags(): readonly Flag[];
}

export interface Client<Flags = AnyFlags> extends Evaluator<Flags> {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** How changes arrive; undefined unless the state is `live`, and without a server. */
  readonly transport: Transport | undefined;
  /** Milliseconds since the server sent the values or confirmed them; undefined before it has. */
  readonly valuesAge: number | undefined;
  /** The version of the flag and its environment, for telemetry; undefined when they are not known or it is overridden. */
  flagMetadata(key: FlagKey<Flags>): FlagMetadata | undefined;
  /** Sets the value that applies instead of the flag's; `undefined` removes it. Emits `change`. */
  override<Key extends FlagKey<Flags>>(key: Key, value: ValueOf<Flags, Key> | undefined): void;
  /** Passes an event, such as a purchase, to `onTrack`, with the evaluations for the targeting key of the context. */
  track(name: string, context: EvaluationContext, details?: TrackDetails): void;
  /** Waits for the server's flags: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are logged. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
  /** Closes the client at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface CreateClient {
  /** The keys and values that `Flags` declares, such as the interface that `halyard types` writes, are checked by the compiler. */
  <Flags = AnyFlags>(options: ClientOptions<NoInfer<Flags>>): Client<Flags>;
  // `ReturnType<typeof createClient>` takes the last signature.
  (options: ClientOptions): Client;
}
