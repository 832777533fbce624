// The provider for @openfeature/web-sdk: the server evaluates for the current context, and the values are in memory.
import type { FlagValue } from "@halyard/core/evaluate";
import type {
  EvaluationContext,
  JsonValue,
  Provider,
  ResolutionDetails,
} from "@openfeature/web-sdk";
import {
  type ContextClient,
  type ContextClientOptions,
  createContextClient,
} from "../browser-client/context-client.ts";
import { notConnected, passEventsOn, resolutionOf, waitForFlags } from "./bridge.ts";
import { ProviderEvents } from "./events.ts";

/** OpenFeature sets the context. */
export interface HalyardWebProviderOptions extends Omit<ContextClientOptions, "context"> {
  /** How long `setProviderAndWait` waits for the server, in milliseconds; 10,000 by default. */
  readonly readyTimeout?: number;
}

export class HalyardWebProvider implements Provider {
  readonly metadata = { name: "halyard" } as const;
  readonly runsOn = "client";
  readonly events = new ProviderEvents();
  readonly #options: HalyardWebProviderOptions;
  #client: ContextClient | undefined;
  #initialized = false;

  constructor(options: HalyardWebProviderOptions) {
    this.#options = options;
  }

  async initialize(context: EvaluationContext = {}): Promise<void> {
    this.#initialized = false;
    const client = createContextClient({ ...this.#options, context });
    this.#client = client;
    passEventsOn(client, this.events, () => this.#initialized);
    await waitForFlags(client, this.#options.readyTimeout).finally(() => {
      this.#initialized = true;
    });
  }

  async onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> {
    if (this.#client !== undefined && !(await this.#client.setContext(context))) {
      throw notConnected("the values of this context could not be fetched");
    }
  }

  async onClose(): Promise<void> {
    await this.#client?.close();
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
    const details = this.#client?.details(flagKey, like);
    return resolutionOf(details, defaultValue, this.#client?.flagMetadata(flagKey));
  }
}
