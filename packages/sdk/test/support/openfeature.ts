// Domains of OpenFeature's SDKs, and the provider events that a client of theirs has received.
import { ClientProviderEvents, type EventDetails, ServerProviderEvents } from "@openfeature/core";

let domains = 0;
/** Each provider needs its own. */
export const newDomain = (): string => {
  domains += 1;
  return `domain-${domains}`;
};

/** A client of either SDK. */
interface AnyClient {
  addHandler(event: never, handler: (details?: EventDetails) => unknown): void;
}

const textOf = (name: string, details: EventDetails | undefined): string => {
  const { flagsChanged } = (details ?? {}) as { readonly flagsChanged?: readonly string[] };
  return flagsChanged === undefined ? name : `${name}: ${flagsChanged.join(" ")}`;
};

/** Every event so far, as `name` or `name: flags`. */
export const heardBy = (client: AnyClient): string[] => {
  const heard: string[] = [];
  const names = new Set([
    ...Object.values(ServerProviderEvents),
    ...Object.values(ClientProviderEvents),
  ]);
  for (const name of names) {
    client.addHandler(name as never, (details) => {
      heard.push(textOf(name, details));
    });
  }
  return heard;
};
