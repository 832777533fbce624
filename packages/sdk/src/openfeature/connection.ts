// The client of a provider from `initialize` to `onClose`, and its state as events of OpenFeature.
import type { AnyProviderEvent, ErrorCode, EvaluationContext } from "@openfeature/core";
import type { Client } from "../client/client-options.ts";
import type { ClientError } from "../transport/client-error.ts";
import { startTimer } from "../transport/timers.ts";
import type { ProviderEvents } from "./events.ts";

type AnyClient = Pick<Client, "on" | "state" | "error" | "ready" | "close">;

interface ConnectionOptions<C extends AnyClient> {
  readonly events: ProviderEvents;
  readonly readyTimeout: number | undefined;
  readonly create: (context: EvaluationContext) => C;
  /** Whether the client has values without the server, as from `bootstrap`. */
  readonly hasValues: (client: C) => boolean;
}

// Casts, because the enums of OpenFeature are runtime code, and this package imports only types.
const event = (name: `PROVIDER_${string}`) => name as string as AnyProviderEvent;
const general = "GENERAL" as ErrorCode;

/** What `initialize` and `onContextChange` reject with; the client keeps trying. */
export const notConnected = (message: string, why?: ClientError): Error =>
  Object.assign(new Error(why ? `${message}: ${why.message}` : message, why && { cause: why }), {
    code: "PROVIDER_NOT_READY",
  });

export class ProviderConnection<C extends AnyClient> {
  client: C | undefined;
  readonly #options: ConnectionOptions<C>;
  #isInitialized = false;

  constructor(options: ConnectionOptions<C>) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.client !== undefined && this.client.state !== "closed";
  }

  /** Resolves as soon as there are values, including those of `bootstrap` and `cache`. An open client is kept. */
  async open(context: EvaluationContext = {}): Promise<void> {
    const client = this.isOpen && this.client ? this.client : this.#start(context);
    const { readyTimeout } = this.#options;
    const timeout = readyTimeout !== undefined && { timeout: readyTimeout };
    const ready = await client.ready({ allowStale: true, ...timeout }).finally(() => {
      this.#isInitialized = true;
    });
    if (!ready.ok) {
      throw notConnected("the flags of the Halyard server could not be fetched", ready.error);
    }
    this.reportUnlessLive();
  }

  /** OpenFeature sets the status READY when `initialize` or `onContextChange` resolves. This corrects it afterwards. */
  reportUnlessLive(): void {
    startTimer(0, () => {
      const { state, error } = this.client ?? {};
      if (state === "failed" && error !== undefined) this.#emitError(error);
      else if (state === "connecting" || state === "stale") this.#emitStale(error);
    });
  }

  async close(): Promise<void> {
    await this.client?.close();
  }

  #start(context: EvaluationContext): C {
    const { events, create, hasValues } = this.#options;
    const client = create(context);
    this.client = client;
    this.#isInitialized = false;
    // OpenFeature emits the result of `initialize` itself.
    client.on("ready", () => this.#isInitialized && events.emit(event("PROVIDER_READY")));
    client.on("reconnected", () => events.emit(event("PROVIDER_READY")));
    client.on("change", ({ keys }) =>
      events.emit(event("PROVIDER_CONFIGURATION_CHANGED"), { flagsChanged: [...keys] }),
    );
    client.on("stale", ({ error }) => this.#emitStale(error));
    client.on("error", ({ error }) => {
      // Other failures are emitted as stale: the last values apply.
      if (client.state === "failed" && this.#isInitialized) this.#emitError(error);
    });
    // Sets the status before `setProvider` returns, so that evaluations right after it have these values.
    if (hasValues(client)) events.emit(event("PROVIDER_READY"));
    return client;
  }

  #emitStale(error: ClientError | undefined): void {
    const message = error?.message ?? "the server has not responded yet";
    this.#options.events.emit(event("PROVIDER_STALE"), { message });
  }

  #emitError({ message }: ClientError): void {
    this.#options.events.emit(event("PROVIDER_ERROR"), { message, errorCode: general });
  }
}
