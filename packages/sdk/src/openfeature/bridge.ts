// What both OpenFeature providers share: the client's events as provider events, and resolution details.
import type { AnyProviderEvent, ErrorCode, ResolutionDetails } from "@openfeature/core";
import type { Client } from "../client/client.ts";
import type { Details } from "../details.ts";
import type { ClientError } from "../transport/client-error.ts";
import type { ProviderEvents } from "./events.ts";

// Casts, because the enums of OpenFeature are runtime code, and this package imports only types.
const event = (name: `PROVIDER_${string}`) => name as string as AnyProviderEvent;
const code = (name: string) => name as ErrorCode;

/** Only events after `initialize`: OpenFeature emits its result itself. */
export const passEventsOn = (
  client: Pick<Client, "on" | "state">,
  events: ProviderEvents,
  isInitialized: () => boolean,
): void => {
  client.on("ready", () => isInitialized() && events.emit(event("PROVIDER_READY")));
  client.on("reconnected", () => events.emit(event("PROVIDER_READY")));
  client.on("change", ({ keys }) =>
    events.emit(event("PROVIDER_CONFIGURATION_CHANGED"), { flagsChanged: [...keys] }),
  );
  client.on("stale", ({ error }) =>
    events.emit(event("PROVIDER_STALE"), { message: error.message }),
  );
  client.on("error", ({ error }) => {
    // Other failures are emitted as stale: the last values apply.
    if (client.state !== "failed" || !isInitialized()) return;
    events.emit(event("PROVIDER_ERROR"), { message: error.message, errorCode: code("GENERAL") });
  });
};

export const resolutionOf = (details: Details): ResolutionDetails<boolean> =>
  details.errorCode === undefined
    ? (details as ResolutionDetails<boolean>)
    : { ...(details as ResolutionDetails<boolean>), errorCode: code(details.errorCode) };

/** For every type but boolean. */
export const typeMismatch = <T>(flagKey: string, value: T): ResolutionDetails<T> => ({
  value,
  reason: "ERROR",
  errorCode: code("TYPE_MISMATCH"),
  errorMessage: `The flag ${JSON.stringify(flagKey)} is a boolean: Halyard has no other value types.`,
});

/** What `initialize` and `onContextChange` reject with; the client keeps trying. */
export const notConnected = (message: string, why?: ClientError): Error =>
  Object.assign(new Error(why ? `${message}: ${why.message}` : message, why && { cause: why }), {
    code: "PROVIDER_NOT_READY",
  });

/** Waits for the first flags; the error says why there are none. */
export const waitForFlags = async (
  client: Pick<Client, "ready">,
  timeout: number | undefined,
): Promise<void> => {
  const ready = await client.ready(timeout === undefined ? {} : { timeout });
  if (ready.ok) return;
  throw notConnected("the flags of the Halyard server could not be fetched", ready.error);
};
