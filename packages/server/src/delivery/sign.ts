// The HMACs of callbacks, with keys that are created once.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { type Mac, plainKey, signedHeaders, standardKey } from "@halyard/core/webhook-signature";
import type { Callback, Claim } from "../domain/webhooks/outbox.ts";

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

export const headersOf = (
  { deliveryId, event }: Claim,
  { secret, previousSecret }: Callback,
  serviceName: string,
  at: Date,
): Record<string, string> =>
  signedHeaders(
    { serviceName, deliveryId, event, body: event.body, at, secret, previousSecret },
    mac,
  );
