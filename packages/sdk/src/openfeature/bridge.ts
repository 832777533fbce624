// What both OpenFeature providers share: the client's events as provider events, and resolution details.

import type { FlagValue } from "@halyard/core/evaluate";
import type { AnyProviderEvent, ErrorCode, ResolutionDetails } from "@openfeature/core";
import type { Client } from "../client/client-options.ts";
import { type Details, type FlagMetadata, notReady } from "../details.ts";
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

/** The reasons that OpenFeature does not have. A flag whose requirements are not met is off, as one that is turned off. */
const standardReasons: Readonly<Partial<Record<Details["reason"], string>>> = {
  PREREQUISITE_FAILED: "DISABLED",
};

/** Undefined before `initialize`. `details` was asked with any value of the type, because OpenFeature takes any default. */
export const resolutionOf = <T>(
  details: Details<FlagValue> | undefined,
  defaultValue: T,
  metadata?: FlagMetadata,
): ResolutionDetails<T> => {
  const { value, variant, reason, rule, overridden, errorCode, errorMessage } =
    details ?? notReady(false);
  if (errorCode !== undefined) {
    const message = errorMessage !== undefined && { errorMessage };
    return { value: defaultValue, reason, errorCode: code(errorCode), ...message };
  }
  const standard = standardReasons[reason];
  const flagMetadata = {
    ...metadata,
    ...(standard !== undefined && { reason }),
    ...(rule !== undefined && { rule }),
    ...(overridden !== undefined && { overridden }),
  };
  return {
    value: value as T,
    ...(variant !== undefined && { variant }),
    reason: standard ?? reason,
    ...(Object.keys(flagMetadata).length > 0 && { flagMetadata }),
  };
};

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
