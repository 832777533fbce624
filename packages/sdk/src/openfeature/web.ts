// The provider for @openfeature/web-sdk: the server evaluates for the current context, and the values are in memory.
import type { FlagValue } from "@halyard/core/evaluate";
import type {
  EvaluationContext,
  JsonValue,
  Client as OpenFeatureClient,
  Provider,
  ResolutionDetails,
  TrackingEventDetails,
} from "@openfeature/web-sdk";
import {
  type ContextClient,
  type ContextClientOptions,
  createContextClient,
} from "../browser-client/context-client.ts";
import { notConnected, ProviderConnection } from "./connection.ts";
import { ProviderEvents } from "./events.ts";
import { resolutionOf } from "./resolution.ts";
import type { Typed } from "./typed-client.ts";

/** OpenFeature's client, limited to these flags: `const client: TypedClient<Flags> = OpenFeature.getClient()`. */
export type TypedClient<Flags> = Typed<Flags, OpenFeatureClient>;

/** OpenFeature sets the context. */
export interface HalyardWebProviderOptions extends Omit<ContextClientOptions, "context"> {
  /** How long `setProviderAndWait` waits for first values, in milliseconds; 10,000 by default. */
  readonly readyTimeout?: number;
}

export class HalyardWebProvider implements Provider {
  readonly metadata = { name: "halyard" } as const;
  readonly runsOn = "client";
  readonly events = new ProviderEvents();
  readonly #connection: ProviderConnection<ContextClient>;

  constructor({ readyTimeout, ...options }: HalyardWebProviderOptions) {
    this.#connection = new ProviderConnection({
      events: this.events,
      readyTimeout,
      create: (context) => createContextClient({ ...options, context }),
      hasValues: (client) => Object.keys(client.values()).length > 0,
    });
  }

  async initialize(context: EvaluationContext = {}): Promise<void> {
    if (this.#connection.isOpen) await this.onContextChange({}, context);
    else await this.#connection.open(context);
  }

  async onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> {
    const { client } = this.#connection;
    if (client === undefined) return;
    if (!(await client.setContext(context))) {
      throw notConnected("the values of this context could not be fetched");
    }
    this.#connection.reportUnlessLive();
  }

  async onClose(): Promise<void> {
    await this.#connection.close();
  }

  /** The context is the one that OpenFeature has set. */
  track(name: string, _context: EvaluationContext, details: TrackingEventDetails): void {
    this.#connection.client?.track(name, details);
  }

  resolveBooleanEvaluation(flagKey: string, defaultValue: boolean): ResolutionDetails<boolean> {
    return this.#resolve(flagKey, false, defaultValue);
  }

  resolveStringEvaluation(flagKey: string, defaultValue: string): ResolutionDetails<string> {
    return this.#resolve(flagKey, "", defaultValue);
  }

  resolveNumberEvaluation(flagKey: string, defaultValue: number): ResolutionDetails<number> {
    return this.#resolve(flagKey, 0, defaultValue);
  }

  resolveObjectEvaluation<T extends JsonValue>(
    flagKey: string,
    defaultValue: T,
  ): ResolutionDetails<T> {
    return this.#resolve(flagKey, {}, defaultValue);
  }

  #resolve<T>(flagKey: string, like: FlagValue, defaultValue: T): ResolutionDetails<T> {
    const { client } = this.#connection;
    const details = client?.details(flagKey, like);
    return resolutionOf(details, defaultValue, client?.flagMetadata(flagKey));
  }
}
