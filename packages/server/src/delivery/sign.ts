// The signature headers of a callback: both schemes, with both secrets during a rotation.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import {
  plainHeader,
  plainKey,
  plainSignature,
  standardContent,
  standardHeaders,
  standardKey,
  standardSignature,
} from "@halyard/core/webhook-signature";
import { fixedHeaders } from "../domain/delivery.ts";
import type { Callback, Claim } from "../ports.ts";

const hmac = (key: KeyObject, data: Uint8Array): Uint8Array =>
  createHmac("sha256", key).update(data).digest();

interface Keys {
  readonly plain: KeyObject;
  readonly standard: KeyObject;
}

/** Keys by secret, created once. */
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

export const signedHeaders = (
  { deliveryId, event }: Claim,
  { secret, previousSecret }: Callback,
  serviceName: string,
  now: Date,
): Record<string, string> => {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const content = standardContent(event.id, timestamp, event.body);
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const signatures = secrets.map((each) => standardSignature(hmac(keysOf(each).standard, content)));
  // A receiver of the plain scheme holds one secret: the old one, until the overlap ends.
  const plain = plainSignature(hmac(keysOf(previousSecret ?? secret).plain, event.body));
  return {
    ...fixedHeaders(serviceName, deliveryId, event),
    [plainHeader(serviceName)]: plain,
    [standardHeaders.timestamp]: timestamp,
    [standardHeaders.signature]: signatures.join(" "),
  };
};
