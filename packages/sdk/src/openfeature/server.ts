// The provider for @openfeature/server-sdk: evaluates in memory.
import type { FlagValue } from "@halyard/core/evaluate";
import type {
  EvaluationContext,
  JsonValue,
  Client as OpenFeatureClient,
  Provider,
  ResolutionDetails,
  TrackingEventDetails,
} from "@openfeature/server-sdk";
import { createClient } from "../client/client.ts";
import type { Client, ClientOptions } from "../client/client-options.ts";
import { ProviderConnection } from "./connection.ts";
import { ProviderEvents } from "./events.ts";
import { resolutionOf } from "./resolution.ts";
import type { Typed } from "./typed-client.ts";

/** OpenFeature's client, limited to these flags: `const client: TypedClient<Flags> = OpenFeature.getClient()`. */
export type TypedClient<Flags> = Typed<Flags, OpenFeatureClient>;

export type HalyardProviderOptions = ClientOptions & {
  /** How long `setProviderAndWait` waits for first values, in milliseconds; 10,000 by default. */
  readonly readyTimeout?: number;
};

export class HalyardProvider implements Provider {
  readonly metadata = { name: "halyard" } as const;
  readonly runsOn = "server";
  readonly events = new ProviderEvents();
  readonly #connection: ProviderConnection<Client>;

  constructor({ readyTimeout, ...options }: HalyardProviderOptions) {
    this.#connection = new ProviderConnection({
      events: this.events,
      readyTimeout,
      create: () => createClient(options),
      hasValues: (client) => client.flags().length > 0,
    });
  }

  async initialize(): Promise<void> {
    await this.#connection.open();
  }

  async onClose(): Promise<void> {
    await this.#connection.close();
  }

  track(name: string, context: EvaluationContext, details: TrackingEventDetails): void {
    this.#connection.client?.track(name, context, details);
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
    const { client } = this.#connection;
    const details = client?.details(flagKey, context, like);
    return resolutionOf(details, defaultValue, client?.flagMetadata(flagKey));
  }
}
