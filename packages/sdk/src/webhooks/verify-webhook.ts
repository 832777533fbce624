// Verifies a received webhook request and returns its event; works in any runtime with Web Crypto.
import {
  parsePlainSignature,
  parseStandardSignatures,
  plainHeader,
  plainKey,
  standardContent,
  standardHeaders,
  standardKey,
} from "@halyard/core/webhook-signature";
import type { WebhookEvent } from "../management/webhook-event.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export type WebhookVerificationReason =
  /** The signature header of the scheme is missing. */
  | "missing-signature"
  /** A signature header, or one that belongs to it, is missing or malformed. */
  | "malformed-header"
  /** No signature matches this body with any of the secrets. */
  | "bad-signature"
  /** The signature is valid, but older than the tolerance. */
  | "timestamp-too-old"
  /** The signature is valid, but further in the future than the tolerance. */
  | "timestamp-too-new"
  /** The signature is valid, but the body is not an event. */
  | "malformed-body"
  /** The caller passed something other than the raw body. */
  | "body-not-raw"
  /** The caller passed no secret, or one that is not `whsec_<base64>`. */
  | "unusable-secret";

export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly reason: WebhookVerificationReason;

  constructor(reason: WebhookVerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface VerifyWebhookOptions {
  /** How many seconds `webhook-timestamp` may be in the past or in the future; 300 by default. */
  readonly tolerance?: number;
  readonly now?: () => Date;
  /** The middle part of `X-Service-Signature`, if the server has a name of its own. */
  readonly serviceName?: string;
  /**
   * Which signature is verified; "standard" by default. Halyard always sends both. "plain" is the `X-Service-Signature`
   * header alone: it signs no time, so a request that someone recorded years ago is accepted.
   */
  readonly scheme?: "standard" | "plain";
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

// More than a rotation needs. Without a limit, an attacker's header could make us compute any number of HMACs.
const maxSignatures = 10;

/**
 * Resolves to the event of a request that was signed with one of the secrets.
 *
 * `rawBody` is the body exactly as received: a body that was parsed and serialized again has different bytes.
 * Checks the Standard Webhooks headers, or the plain signature header when `scheme` names it. The request never
 * decides which: its sender could omit the stronger one.
 */
export const verifyWebhook = async (
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeaderSource,
  secret: string | readonly string[],
  options: VerifyWebhookOptions = {},
): Promise<WebhookEvent> => {
  const body = bytesOf(rawBody);
  const keys = keysOf(typeof secret === "string" ? [secret] : secret);
  if (options.scheme === "plain") await verifyPlain(body, headers, keys.plain, options);
  else await verifyStandard(body, headers, keys.standard, options);
  return eventOf(body);
};

const verifyStandard = async (
  body: Bytes,
  headers: HeaderSource,
  keys: readonly Bytes[],
  { tolerance = 300, now = () => new Date() }: VerifyWebhookOptions,
): Promise<void> => {
  const signature = requireHeader(headers, standardHeaders.signature);
  const timestamp = requireHeader(headers, standardHeaders.timestamp);
  const sent = timeOf(timestamp);
  const content = standardContent(requireHeader(headers, standardHeaders.id), timestamp, body);
  const macs = parseStandardSignatures(signature);
  if (macs.length === 0) malformed(standardHeaders.signature, "v1,<base64 of 32 bytes>");
  await requireMatch(keys, macs.slice(0, maxSignatures), content);
  requireRecent(sent, now(), tolerance);
};

const verifyPlain = async (
  body: Bytes,
  headers: HeaderSource,
  keys: readonly Bytes[],
  { serviceName = "Service" }: VerifyWebhookOptions,
): Promise<void> => {
  const name = plainHeader(serviceName);
  const plain = headerOf(headers, name);
  if (plain === undefined) {
    throw new WebhookVerificationError(
      "missing-signature",
      `The request has no ${name} header: it was not sent by the service, a proxy dropped the header, or the service goes by another name (serviceName).`,
    );
  }
  const mac = parsePlainSignature(plain);
  if (!mac) return malformed(name, "sha256=<64 lowercase hexadecimal digits>");
  await requireMatch(keys, [mac], body);
};

/** A copy, so that the verified bytes are the parsed ones. */
const bytesOf = (body: unknown): Bytes => {
  if (typeof body === "string") return Uint8Array.from(new TextEncoder().encode(body));
  if (ArrayBuffer.isView(body)) {
    return Uint8Array.from(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  }
  // Not `instanceof`: accepts buffers of another realm (test runners, sandboxes).
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") {
    return new Uint8Array(body as ArrayBuffer).slice();
  }
  throw new WebhookVerificationError(
    "body-not-raw",
    `The body must be the raw text or bytes of the request, not ${body === null ? "null" : typeof body}: read it before any JSON parser does, because the signature is over the exact bytes.`,
  );
};

const keysOf = (secrets: readonly string[]): { plain: Bytes[]; standard: Bytes[] } => {
  try {
    if (secrets.length > 0) {
      return { plain: secrets.map(plainKey), standard: secrets.map(standardKey) };
    }
  } catch {
    // Reported below, like a missing secret; also a secret that is not a string, such as an unset variable.
  }
  throw new WebhookVerificationError(
    "unusable-secret",
    "A webhook secret is missing or is not `whsec_` followed by base64, with nothing around it. Use it as it was returned when the webhook was created; is the setting that holds it set?",
  );
};

const headerOf = (headers: HeaderSource, name: string): string | undefined => {
  if (typeof headers.get === "function") return (headers as Headers).get(name) ?? undefined;
  const wanted = name.toLowerCase();
  const values = Object.entries(headers as Exclude<HeaderSource, Headers>)
    .filter(([key, value]) => key.toLowerCase() === wanted && value !== undefined)
    .flatMap(([, value]) => value ?? []);
  return values.length === 0 ? undefined : values.join(", ");
};

const malformed = (name: string, form: string): never => {
  throw new WebhookVerificationError(
    "malformed-header",
    `The header ${name} is not of the form ${form}.`,
  );
};

const requireHeader = (headers: HeaderSource, name: string): string => {
  const value = headerOf(headers, name);
  if (value !== undefined && value !== "") return value;
  const all = Object.values(standardHeaders).join(", ");
  throw new WebhookVerificationError(
    name === standardHeaders.signature ? "missing-signature" : "malformed-header",
    `The header ${name} is missing; Halyard always sends ${all}, so the request is not from Halyard, or a proxy dropped them. Another sender that signs with the plain header alone needs the option scheme: "plain".`,
  );
};

const timeOf = (timestamp: string): number =>
  /^[0-9]{1,15}$/.test(timestamp)
    ? Number(timestamp)
    : malformed(standardHeaders.timestamp, "<seconds since 1970>");

const requireMatch = async (
  keys: readonly Bytes[],
  macs: readonly Bytes[],
  content: Bytes,
): Promise<void> => {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const bytes of keys) {
    const key = await subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    for (const mac of macs) {
      if (await subtle.verify("HMAC", key, mac, content)) return;
    }
  }
  throw new WebhookVerificationError(
    "bad-signature",
    "The signature does not match the body. The usual mistakes: the body was parsed and written again before it was verified (pass the raw bytes as received), or the secret is another webhook's or was rotated.",
  );
};

const requireRecent = (sent: number, now: Date, tolerance: number): void => {
  const age = Math.floor(now.getTime() / 1_000) - sent;
  // Written so that NaN is rejected.
  if (age >= -tolerance && age <= tolerance) return;
  const [reason, where] =
    age < 0
      ? (["timestamp-too-new", "from now"] as const)
      : (["timestamp-too-old", "ago"] as const);
  throw new WebhookVerificationError(
    reason,
    `The request was signed ${Math.abs(age)} s ${where}, and ${tolerance} s are tolerated: it is an old request sent again, or a clock is wrong.`,
  );
};

const eventOf = (body: Bytes): WebhookEvent => {
  try {
    const event: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (isEvent(event)) return event;
  } catch {
    // Reported below, like JSON that is not an event.
  }
  throw new WebhookVerificationError(
    "malformed-body",
    "The signature is right, but the body is not a JSON object with id, type and data.",
  );
};

// Only what every version guarantees: unknown types are accepted.
const isEvent = (value: unknown): value is WebhookEvent => {
  if (typeof value !== "object" || value === null) return false;
  const { id, type, data } = value as Partial<Record<string, unknown>>;
  return (
    typeof id === "string" && typeof type === "string" && typeof data === "object" && data !== null
  );
};
