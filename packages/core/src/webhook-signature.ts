// Signs webhook requests in both schemes: keys, signed bytes and header values. The caller computes the HMAC-SHA256.

type Bytes = Uint8Array<ArrayBuffer>;

const secretPrefix = "whsec_";
const plainPrefix = "sha256=";
const standardPrefix = "v1,";
const macLength = 32;

/** Headers of the Standard Webhooks scheme. */
export const standardHeaders = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature",
} as const;

/** Part of header names, unless configured otherwise. */
export const defaultServiceName = "Service";

/** The header of the plain scheme. */
export const plainHeader = (serviceName: string): string => `X-${serviceName}-Signature`;

const encoder = new TextEncoder();
const utf8 = (text: string): Bytes => encoder.encode(text) as Bytes;

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Newer runtimes have these built in, which is many times as fast. */
type NativeBytes = {
  toBase64?(): string;
  toHex?(): string;
};

const toBase64 = (bytes: Uint8Array): string => {
  const native = (bytes as NativeBytes).toBase64?.();
  if (native !== undefined) return native;
  let text = "";
  for (let index = 0; index < bytes.length; index += 3) {
    const [first = 0, second, third] = bytes.subarray(index, index + 3);
    const group = (first << 16) | ((second ?? 0) << 8) | (third ?? 0);
    text += base64Alphabet.charAt(group >> 18) + base64Alphabet.charAt((group >> 12) & 63);
    text += second === undefined ? "=" : base64Alphabet.charAt((group >> 6) & 63);
    text += third === undefined ? "=" : base64Alphabet.charAt(group & 63);
  }
  return text;
};

/** Undefined if the text is not the canonical encoding of some bytes. */
const fromBase64 = (text: string): Bytes | undefined => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const digits = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let length = 0;
  for (const digit of digits) {
    held = ((held << 6) | base64Alphabet.indexOf(digit)) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = (held >> bits) & 0xff;
    length += 1;
  }
  return toBase64(bytes) === text ? bytes : undefined;
};

const toHex = (bytes: Uint8Array): string =>
  (bytes as NativeBytes).toHex?.() ??
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Key of the plain scheme: the whole secret, including `whsec_`. */
export const plainKey = (secret: string): Bytes => utf8(secret);

/** Key of the Standard Webhooks scheme: the decoded bytes after `whsec_`. */
export const standardKey = (secret: string): Bytes => {
  const key = secret.startsWith(secretPrefix)
    ? fromBase64(secret.slice(secretPrefix.length))
    : undefined;
  // Keep the secret out of the message, because messages end up in logs.
  if (!key || key.length === 0) {
    throw new TypeError("A webhook secret is `whsec_` followed by base64, with nothing around it.");
  }
  return key;
};

/** The signed content of the Standard Webhooks scheme. The plain scheme signs the body alone. */
export const standardContent = (
  id: string,
  timestamp: string | number,
  body: Uint8Array,
): Bytes => {
  const prefix = utf8(`${id}.${timestamp}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  return content;
};

export const plainSignature = (mac: Uint8Array): string => plainPrefix + toHex(mac);

/** One signature. A header separates several with spaces. */
export const standardSignature = (mac: Uint8Array): string => standardPrefix + toBase64(mac);

interface EventName {
  readonly id: string;
  readonly type: string;
}

/** The headers that are the same for every attempt. */
export const fixedHeaders = (
  serviceName: string,
  deliveryId: string,
  event: EventName,
): Record<string, string> => ({
  "content-type": "application/json",
  [`X-${serviceName}-Event`]: event.type,
  [`X-${serviceName}-Delivery`]: deliveryId,
  [standardHeaders.id]: event.id,
});

export interface SignedRequest {
  readonly serviceName: string;
  readonly deliveryId: string;
  readonly event: EventName;
  readonly body: Uint8Array;
  readonly at: Date;
  readonly secret: string;
  /** The previous secret during a rotation. */
  readonly previousSecret?: string | undefined;
}

export type Mac = (scheme: "plain" | "standard", secret: string, data: Uint8Array) => Uint8Array;

/** All headers of an attempt: both schemes, with both secrets during a rotation. */
export const signedHeaders = (request: SignedRequest, mac: Mac): Record<string, string> => {
  const { serviceName, deliveryId, event, body, at, secret, previousSecret } = request;
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const content = standardContent(event.id, timestamp, body);
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const signatures = secrets.map((each) => standardSignature(mac("standard", each, content)));
  // A receiver of the plain scheme knows one secret: the old one until the rotation ends.
  const plain = plainSignature(mac("plain", previousSecret ?? secret, body));
  return {
    ...fixedHeaders(serviceName, deliveryId, event),
    [plainHeader(serviceName)]: plain,
    [standardHeaders.timestamp]: timestamp,
    [standardHeaders.signature]: signatures.join(" "),
  };
};

/** The HMAC in a plain header; undefined if the header has another format. */
export const parsePlainSignature = (header: string): Bytes | undefined => {
  if (!/^sha256=[0-9a-f]{64}$/.test(header)) return undefined;
  const pairs = header.slice(plainPrefix.length).match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
};

/** The HMACs in a Standard Webhooks header. Ignores entries of unknown versions. */
export const parseStandardSignatures = (header: string): readonly Bytes[] =>
  header.split(" ").flatMap((entry) => {
    if (!entry.startsWith(standardPrefix)) return [];
    const mac = fromBase64(entry.slice(standardPrefix.length));
    return mac?.length === macLength ? [mac] : [];
  });
