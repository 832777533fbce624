// The provider for @openfeature/server-sdk: evaluates in memory.
import type { FlagValue } from "@halyard/core/evaluate";
import type {
  EvaluationContext,
  JsonValue,
  Provider,
  ResolutionDetails,
} from "@openfeature/server-sdk";
import { createClient } from "../client/client.ts";
import type { Client, ClientOptions } from "../client/client-options.ts";
import { passEventsOn, resolutionOf, waitForFlags } from "./bridge.ts";
import { ProviderEvents } from "./events.ts";

export type HalyardProviderOptions = ClientOptions & {
  /** How long `setProviderAndWait` waits for the server, in milliseconds; 10,000 by default. */
  readonly readyTimeout?: number;
};

export class HalyardProvider implements Provider {
  readonly metadata = { name: "halyard" } as const;
  readonly runsOn = "server";
  readonly events = new ProviderEvents();
  readonly #options: HalyardProviderOptions;
  #client: Client | undefined;
  #initialized = false;

  constructor(options: HalyardProviderOptions) {
    this.#options = options;
  }

  async initialize(): Promise<void> {
    this.#initialized = false;
    const client = createClient(this.#options);
    this.#client = client;
    passEventsOn(client, this.events, () => this.#initialized);
    await waitForFlags(client, this.#options.readyTimeout).finally(() => {
      this.#initialized = true;
    });
  }

  async onClose(): Promise<void> {
    await this.#client?.close();
  }

  async resolveBooleanEvaluation(
    flagKey: string,
    defaultValue: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.#resolve(flagKey, context, false, defaultValue);
  }

  async resolveStringEvaluation(
    flagKey: string,
    defaultValue: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return this.#resolve(flagKey, context, "", defaultValue);
  }

  async resolveNumberEvaluation(
    flagKey: string,
    defaultValue: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.#resolve(flagKey, context, 0, defaultValue);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    flagKey: string,
    defaultValue: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return this.#resolve(flagKey, context, {}, defaultValue);
  }

  #resolve<T>(
    flagKey: string,
    context: EvaluationContext,
    like: FlagValue,
    defaultValue: T,
  ): ResolutionDetails<T> {
    const details = this.#client?.details(flagKey, context, like);
    return resolutionOf(details, defaultValue, this.#client?.flagMetadata(flagKey));
  }
}
