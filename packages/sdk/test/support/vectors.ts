// The published signature vectors, and a signer of the tests' own that shares no code with the package.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

type Body = { text: string } | { base64: string } | { repeat: string; times: number };

interface Vectors {
  readonly signed: readonly {
    readonly name: string;
    readonly secret: string;
    readonly previousSecret?: string;
    readonly id: string;
    readonly timestamp: number;
    readonly body: Body;
    readonly "x-service-signature": string;
    readonly "webhook-signature": string;
  }[];
  readonly received: readonly {
    readonly name: string;
    readonly scheme: "standard" | "plain";
    readonly secrets: readonly string[];
    readonly now: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Body;
    readonly outcome: string;
  }[];
}

const file = new URL("../../../../conformance/signature.json", import.meta.url);
export const { signed, received } = JSON.parse(readFileSync(file, "utf8")) as Vectors;

export const bytesOf = (body: Body): Buffer => {
  if ("text" in body) return Buffer.from(body.text);
  if ("base64" in body) return Buffer.from(body.base64, "base64");
  return Buffer.from(body.repeat.repeat(body.times));
};

export const secretOf = (fill: number): string =>
  `whsec_${Buffer.alloc(32, fill).toString("base64")}`;

const hmac = (key: string | Buffer, ...content: (string | Uint8Array)[]): Buffer => {
  const mac = createHmac("sha256", key);
  for (const part of content) mac.update(part);
  return mac.digest();
};

export const signPlain = (secret: string, body: string | Uint8Array): Record<string, string> => ({
  "X-Service-Signature": `sha256=${hmac(secret, body).toString("hex")}`,
});

export const signStandard = (
  secrets: readonly string[],
  id: string,
  at: Date,
  body: string | Uint8Array,
): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return `v1,${hmac(key, `${id}.${timestamp}.`, body).toString("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
};

export const eventBody = (id = "evt_1"): string =>
  JSON.stringify({
    id,
    type: "flag.enabled",
    createdAt: "2026-11-14T12:00:00.000Z",
    environment: "production",
    sequence: 812,
    data: {
      flag: {
        key: "new-checkout",
        type: "rollout",
        enabled: true,
        percentage: 25,
        description: "Grüße 🚀",
      },
      version: 7,
      previous: { enabled: false },
    },
    actor: { keyId: "9f86d081884c7d65", name: "ci" },
  });
