// How a webhook request is signed, in both schemes: keys, signed bytes and header texts, with the HMAC-SHA256 left to the caller.

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

/** The header of the plain scheme; the service's name is a setting of the service. */
export const plainHeader = (serviceName: string): string => `X-${serviceName}-Signature`;

const encoder = new TextEncoder();
const utf8 = (text: string): Bytes => encoder.encode(text) as Bytes;

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** What newer runtimes do themselves, many times as fast. */
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

/** The bytes, or undefined when the text is not exactly what encoding those bytes gives. */
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

/** Key of the plain scheme: the whole text of the secret, `whsec_` included. */
export const plainKey = (secret: string): Bytes => utf8(secret);

/** Key of the Standard Webhooks scheme: the bytes that the text after `whsec_` stands for. */
export const standardKey = (secret: string): Bytes => {
  const key = secret.startsWith(secretPrefix)
    ? fromBase64(secret.slice(secretPrefix.length))
    : undefined;
  // The secret itself stays out of the message: messages end up in logs.
  if (!key || key.length === 0) {
    throw new TypeError("A webhook secret is `whsec_` followed by base64, with nothing around it.");
  }
  return key;
};

/** What the Standard Webhooks scheme signs; the plain scheme signs the body alone. */
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

/** One signature; several in one header are separated by a space. */
export const standardSignature = (mac: Uint8Array): string => standardPrefix + toBase64(mac);

/** The HMAC in a plain header, or undefined when the header is not of that form. */
export const parsePlainSignature = (header: string): Bytes | undefined => {
  if (!/^sha256=[0-9a-f]{64}$/.test(header)) return undefined;
  const pairs = header.slice(plainPrefix.length).match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
};

/** The HMACs in a Standard Webhooks header; entries of versions that are not known here are passed over. */
export const parseStandardSignatures = (header: string): readonly Bytes[] =>
  header.split(" ").flatMap((entry) => {
    if (!entry.startsWith(standardPrefix)) return [];
    const mac = fromBase64(entry.slice(standardPrefix.length));
    return mac?.length === macLength ? [mac] : [];
  });
