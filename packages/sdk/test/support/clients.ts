// Clients that are closed when their test ends, and the events that they have emitted.
import type { TestContext } from "node:test";
import { type Client, type ClientEvents, type ClientOptions, createClient } from "@halyard/sdk";
import {
  type ContextClient,
  type ContextClientOptions,
  createContextClient,
} from "@halyard/sdk/browser";
import type { Timing } from "../../src/transport/timing.ts";
import { quick } from "./scripted-server.ts";

/** Every wait of the clients: also those that programs cannot set. */
interface AllTiming {
  readonly timing?: Partial<Timing>;
}

type Emitted = {
  [Name in keyof ClientEvents]: { name: Name; event: ClientEvents[Name] };
}[keyof ClientEvents];

const names: readonly (keyof ClientEvents)[] = [
  "ready",
  "change",
  "stale",
  "reconnected",
  "error",
  "closed",
];

const recorded = <T extends Pick<Client, "on" | "close">>(context: TestContext, client: T) => {
  const emitted: Emitted[] = [];
  for (const name of names) client.on(name, (event) => emitted.push({ name, event } as Emitted));
  context.after(() => client.close());
  return {
    client,
    emitted,
    names: () => emitted.map(({ name }) => name),
    count: (name: keyof ClientEvents) => emitted.filter((entry) => entry.name === name).length,
    /** The codes of the errors so far. */
    errors: () =>
      emitted.flatMap((entry) => (entry.name === "error" ? [entry.event.error.code] : [])),
    /** The keys of every change so far. */
    changed: () => emitted.flatMap((entry) => (entry.name === "change" ? entry.event.keys : [])),
  };
};

export const key = "hal_0000000000000000_test";

export const clientOf = (
  context: TestContext,
  url: string,
  options: Partial<Omit<ClientOptions, "timing">> & AllTiming = {},
) =>
  recorded<Client>(
    context,
    createClient({
      url,
      key,
      reportUsage: false,
      reportApplied: false,
      log: false,
      ...options,
      timing: { ...quick, ...options.timing },
    }),
  );

export const contextClientOf = (
  context: TestContext,
  url: string,
  options: Partial<Omit<ContextClientOptions, "timing">> & AllTiming = {},
) =>
  recorded<ContextClient>(
    context,
    createContextClient({
      url,
      key,
      reportUsage: false,
      log: false,
      ...options,
      timing: { ...quick, ...options.timing },
    }),
  );
