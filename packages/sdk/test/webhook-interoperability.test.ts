// What Halyard signs, others verify, and what they sign, verifyWebhook takes: standardwebhooks, svix and OpenSSL.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import {
  plainKey,
  plainSignature,
  standardContent,
  standardHeaders,
  standardKey,
  standardSignature,
} from "@halyard/core/webhook-signature";
import { verifyWebhook, WebhookVerificationError } from "@halyard/sdk/webhooks";
import { WebhookVerificationError as Refused, Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { bytesOf, eventBody, secretOf, signed } from "./support/vectors.ts";

const secret = secretOf(1);
const previous = secretOf(2);
const body = eventBody();
const event: unknown = JSON.parse(body);

/** The headers as the service makes them. */
const sign = (secrets: readonly string[], id: string, at: Date, text: string) => {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const content = standardContent(id, timestamp, Buffer.from(text));
  const macs = secrets.map((known) =>
    createHmac("sha256", standardKey(known)).update(content).digest(),
  );
  return {
    [standardHeaders.id]: id,
    [standardHeaders.timestamp]: String(timestamp),
    [standardHeaders.signature]: macs.map(standardSignature).join(" "),
  };
};

for (const [name, Webhook] of [
  ["standardwebhooks", StandardWebhook],
  ["svix", SvixWebhook],
] as const) {
  suite(name, () => {
    test("verifies what Halyard signs", () => {
      const headers = sign([secret], "evt_1", new Date(), body);
      new Webhook(secret).verify(body, headers);
      const altered = body.replace("25", "26");
      assert.throws(() => new Webhook(secret).verify(altered, headers), Refused);
      assert.throws(() => new Webhook(previous).verify(body, headers), Refused);
    });

    test("verifies with either secret during a rotation", () => {
      const headers = sign([secret, previous], "evt_1", new Date(), body);
      for (const known of [secret, previous]) new Webhook(known).verify(body, headers);
      assert.throws(() => new Webhook(secretOf(3)).verify(body, headers), Refused);
    });

    test("signs what verifyWebhook takes", async () => {
      const at = new Date();
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
        "webhook-signature": new Webhook(secret).sign("evt_1", at, body),
      };
      assert.deepEqual(await verifyWebhook(body, headers, secret), event);
      await assert.rejects(verifyWebhook(body, headers, previous), WebhookVerificationError);
    });

    test("makes the published signatures", () => {
      for (const vector of signed) {
        if (!("text" in vector.body) || vector.previousSecret !== undefined) continue;
        const at = new Date(vector.timestamp * 1_000);
        const made = new Webhook(vector.secret).sign(vector.id, at, vector.body.text);
        assert.equal(made, vector["webhook-signature"], vector.name);
      }
    });
  });
}

const openssl = (args: readonly string[], input: Uint8Array): Buffer => {
  const { status, stdout, stderr } = spawnSync("openssl", args, { input });
  assert.equal(status, 0, stderr.toString());
  return stdout;
};
const version = spawnSync("openssl", ["version"], { encoding: "utf8" });
const skip = version.status === 0 ? false : "openssl is not installed";

suite("OpenSSL", { skip }, () => {
  const cases = [
    { name: "an event", secret, id: "evt_1", timestamp: 1_794_657_600, bytes: Buffer.from(body) },
    ...signed
      .filter((vector) => vector.previousSecret === undefined)
      .map((vector) => ({ ...vector, bytes: bytesOf(vector.body) })),
  ];
  for (const { name, secret: text, id, timestamp, bytes } of cases) {
    test(`makes the same signatures: ${name}`, () => {
      const plain = openssl(["dgst", "-sha256", "-hmac", text, "-r"], bytes);
      const ownPlain = createHmac("sha256", plainKey(text)).update(bytes).digest();
      assert.equal(`sha256=${plain.toString().split(" ")[0]}`, plainSignature(ownPlain));

      const hexKey = `hexkey:${Buffer.from(standardKey(text)).toString("hex")}`;
      const content = standardContent(id, timestamp, bytes);
      const standard = openssl(
        ["dgst", "-sha256", "-mac", "HMAC", "-macopt", hexKey, "-binary"],
        Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]),
      );
      const ownStandard = createHmac("sha256", standardKey(text)).update(content).digest();
      assert.equal(`v1,${standard.toString("base64")}`, standardSignature(ownStandard));
    });
  }
});
