// Real deliveries, verified by what receivers really use: standardwebhooks, svix, OpenSSL and verifyWebhook.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { verifyWebhook, WebhookVerificationError } from "@halyard/sdk/webhooks";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { readRows } from "../../support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  type NewWebhook,
  patchFlag,
  register,
} from "../../support/delivery-log.ts";
import {
  type Received,
  type ScriptedReceiver,
  startReceiver,
} from "../../support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../support/server.ts";

export const testSignatures = ({
  flags,
  byOpenssl,
}: {
  readonly flags: number;
  readonly byOpenssl: number;
}): void => {
  const descriptions = ["plain", "", null, 'Größe 90 % 🚀 \u2028 "quoted" \\ / \u0007 \uffff'];

  let server: TestServer;
  let receiver: ScriptedReceiver;
  let webhook: NewWebhook;
  let other: NewWebhook;

  before(async () => {
    // None is sent again because the machine is slow.
    server = await startTestServer({}, { deliveryTimeout: 3_600_000 });
    receiver = await startReceiver();
    const { admin } = await server.environment();
    webhook = await register(admin, receiver.url);
    other = await register(admin, "http://127.0.0.1:9/", ["flag.deleted"]);
    for (let index = 0; index < flags; index += 1) {
      const key = await createFlag(admin);
      const description = descriptions[index % descriptions.length];
      await patchFlag(admin, key, { enabled: true, description });
    }
    await admin("POST", `/webhooks/${webhook.id}/test`);
    const log = await logWhen(admin, webhook.id, flags * 2, isDelivered);
    assert.equal(log.length, receiver.received.length);
  });
  after(async () => {
    await server.close();
    await receiver.close();
  });

  const headersOf = ({ headers }: Received) => headers as Record<string, string>;

  for (const [name, Webhook] of [
    ["standardwebhooks", StandardWebhook],
    ["svix", SvixWebhook],
  ] as const) {
    test(`${name} verifies every delivery, and refuses another secret and another body`, () => {
      for (const request of receiver.received) {
        const text = request.body.toString();
        new Webhook(webhook.secret).verify(text, headersOf(request));
        assert.throws(() => new Webhook(other.secret).verify(text, headersOf(request)));
        assert.throws(() => new Webhook(webhook.secret).verify(`${text} `, headersOf(request)));
      }
    });
  }

  test("verifyWebhook verifies every delivery by both schemes", async () => {
    for (const request of receiver.received) {
      const headers = headersOf(request);
      const plain = Object.fromEntries(
        Object.entries(headers).filter(([header]) => !header.startsWith("webhook-")),
      );
      const expected: unknown = JSON.parse(request.body.toString());
      for (const [scheme, sent] of [
        ["standard", headers],
        ["plain", plain],
      ] as const) {
        const { body } = request;
        assert.deepEqual(await verifyWebhook(body, sent, webhook.secret, { scheme }), expected);
        await assert.rejects(
          verifyWebhook(body, sent, other.secret, { scheme }),
          (error) => error instanceof WebhookVerificationError && error.reason === "bad-signature",
        );
      }
    }
  });

  const installed = spawnSync("openssl", ["version"]).status === 0;
  test("OpenSSL makes the same signatures", {
    skip: !installed && "openssl is not installed",
  }, () => {
    const mac = (input: Uint8Array, ...key: string[]): Buffer => {
      const { status, stdout, stderr } = spawnSync(
        "openssl",
        ["dgst", "-sha256", ...key, "-binary"],
        { input },
      );
      assert.equal(status, 0, stderr.toString());
      return stdout;
    };
    for (const request of receiver.received.slice(0, byOpenssl)) {
      const { body } = request;
      const headers = headersOf(request);
      const plain = mac(body, "-hmac", webhook.secret).toString("hex");
      assert.equal(headers["x-service-signature"], `sha256=${plain}`);
      const key = Buffer.from(webhook.secret.slice("whsec_".length), "base64").toString("hex");
      const signed = Buffer.concat([
        Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`),
        body,
      ]);
      const standard = mac(signed, "-mac", "HMAC", "-macopt", `hexkey:${key}`).toString("base64");
      assert.equal(headers["webhook-signature"], `v1,${standard}`);
    }
  });

  test("the bytes that arrive are the bytes that are stored, and the headers say what they are", async () => {
    for (const { method, headers, body } of receiver.received) {
      const [row] = await readRows(
        server,
        "select body from events where id = ?",
        String(headers["webhook-id"]),
      );
      assert.ok(row);
      assert.deepEqual(Buffer.from(row.body as Uint8Array), body);
      const { id, type } = JSON.parse(body.toString()) as { id: string; type: string };
      assert.deepEqual(
        [method, headers["content-type"], headers["webhook-id"], headers["x-service-event"]],
        ["POST", "application/json", id, type],
      );
      assert.equal(headers["content-length"], String(body.length));
      assert.match(String(headers["x-service-delivery"]), /^dlv_[0-9a-f]+$/);
      assert.match(String(headers["user-agent"]), /^Halyard\/\d/);
      const age = Date.now() / 1_000 - Number(headers["webhook-timestamp"]);
      assert.ok(age >= -1 && age < 300, `signed ${age} s ago`);
    }
  });

  test("HALYARD_SERVICE_NAME names the headers, and they verify under that name", async (t) => {
    const named = await startTestServer({ HALYARD_SERVICE_NAME: "Acme-Flags" });
    const its = await startReceiver();
    t.after(() => Promise.all([named.close(), its.close()]));
    const { admin } = await named.environment();
    const { id, secret } = await register(admin, its.url);
    await createFlag(admin);
    await logWhen(admin, id, 1, isDelivered);
    const [request] = its.received;
    assert.ok(request);
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
    const own = names.filter((name) => /^x-/i.test(name)).sort();
    assert.deepEqual(own, [
      "X-Acme-Flags-Delivery",
      "X-Acme-Flags-Event",
      "X-Acme-Flags-Signature",
    ]);
    const plain = { "x-acme-flags-signature": headersOf(request)["x-acme-flags-signature"] };
    await verifyWebhook(request.body, plain, secret, {
      scheme: "plain",
      serviceName: "Acme-Flags",
    });
    await assert.rejects(verifyWebhook(request.body, plain, secret, { scheme: "plain" }), {
      reason: "missing-signature",
    });
    await verifyWebhook(request.body, headersOf(request), secret);
  });
};
