// The provider for @openfeature/server-sdk: evaluates in memory.
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
    return resolutionOf(this.#client?.details(flagKey, context, false), defaultValue);
  }

  async resolveStringEvaluation(
    flagKey: string,
    defaultValue: string,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<string>> {
    return resolutionOf(this.#client?.details(flagKey, context, ""), defaultValue);
  }

  async resolveNumberEvaluation(
    flagKey: string,
    defaultValue: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return resolutionOf(this.#client?.details(flagKey, context, 0), defaultValue);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    flagKey: string,
    defaultValue: T,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<T>> {
    return resolutionOf(this.#client?.details(flagKey, context, {}), defaultValue);
  }
}
