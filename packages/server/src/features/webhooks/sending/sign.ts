// The HMACs of callbacks, with keys that are created once.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { cloudEventHeaders, type DescribedEvent } from "@halyard/core/cloud-event";
import { type Mac, plainKey, signedHeaders, standardKey } from "@halyard/core/webhook-signature";
import type { Callback, Claim } from "./batch.ts";

type Keys = Readonly<Record<Parameters<Mac>[0], KeyObject>>;

/** Keys by secret. */
const known = new Map<string, Keys>();
const maxKnown = 1_000;

const keysOf = (secret: string): Keys => {
  const found = known.get(secret);
  if (found) return found;
  const keys = {
    plain: createSecretKey(plainKey(secret)),
    standard: createSecretKey(standardKey(secret)),
  };
  if (known.size >= maxKnown) known.clear();
  known.set(secret, keys);
  return keys;
};

const mac: Mac = (scheme, secret, data) =>
  createHmac("sha256", keysOf(secret)[scheme]).update(data).digest();

export interface SenderNames {
  /** In the names of headers. */
  readonly serviceName: string;
  /** Where people reach this service, for the source of CloudEvents. */
  readonly publicUrl?: string | undefined;
}

const eventIn = (body: Uint8Array): DescribedEvent =>
  JSON.parse(new TextDecoder().decode(body)) as DescribedEvent;

export const headersOf = (
  { deliveryId, event }: Claim,
  { secret, previousSecret, cloudEvents }: Callback,
  { serviceName, publicUrl }: SenderNames,
  at: Date,
): Record<string, string> => ({
  ...signedHeaders(
    { serviceName, deliveryId, event, body: event.body, at, secret, previousSecret },
    mac,
  ),
  ...(cloudEvents && cloudEventHeaders(eventIn(event.body), publicUrl)),
});
