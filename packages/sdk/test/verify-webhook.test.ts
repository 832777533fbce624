// verifyWebhook against the published vectors, every shape a request comes in, and every reason to refuse one.
import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { suite, test } from "node:test";
import { runInNewContext } from "node:vm";
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from "@halyard/sdk/webhooks";
import {
  bytesOf,
  eventBody,
  received,
  secretOf,
  signed,
  signPlain,
  signStandard,
} from "./support/vectors.ts";

const at = new Date("2026-11-14T12:00:00.000Z");
const secret = secretOf(1);
const body = eventBody();
const event: unknown = JSON.parse(body);
const standard = signStandard([secret], "evt_1", at, body);
const plain = signPlain(secret, body);
const options: VerifyWebhookOptions = { now: () => at };
const byPlain: VerifyWebhookOptions = { scheme: "plain" };

const refused = async (
  reason: WebhookVerificationReason,
  request: Promise<WebhookEvent>,
  message = /./,
): Promise<void> => {
  await assert.rejects(request, (error) => {
    assert.ok(error instanceof WebhookVerificationError, String(error));
    assert.equal(error.name, "WebhookVerificationError");
    assert.equal(error.reason, reason);
    assert.match(error.message, message);
    assert.ok(!error.message.includes(secret.slice(6)), "the message repeats the secret");
    return true;
  });
};

suite("the published vectors", () => {
  test("are there", () => {
    assert.ok(signed.length >= 25 && received.length >= 25, `${signed.length} ${received.length}`);
  });

  for (const vector of signed) {
    const bytes = bytesOf(vector.body);
    const now = () => new Date(vector.timestamp * 1_000);
    const schemes = {
      plain: { "x-service-signature": vector["x-service-signature"] },
      standard: {
        "webhook-id": vector.id,
        "webhook-timestamp": String(vector.timestamp),
        "webhook-signature": vector["webhook-signature"],
      },
    };
    for (const scheme of ["plain", "standard"] as const) {
      const headers = schemes[scheme];
      test(`signed, ${scheme}: ${vector.name}`, async () => {
        const secrets = [vector.secret, ...(vector.previousSecret ? [vector.previousSecret] : [])];
        const result = verifyWebhook(bytes, headers, secrets, { now, scheme });
        // Bodies that are no event must come as far as the parser, and no further.
        if (bytes.includes('"data":')) {
          assert.deepEqual(await result, JSON.parse(bytes.toString()));
        } else await refused("malformed-body", result);
        await refused("bad-signature", verifyWebhook(bytes, headers, secretOf(9), { now, scheme }));
      });
    }
  }

  for (const { name, scheme, secrets, now, headers, body: content, outcome } of received) {
    test(`received: ${name}: ${outcome}`, async () => {
      const clock = { now: () => new Date(now * 1_000) };
      const result = verifyWebhook(bytesOf(content), headers, secrets, { scheme, ...clock });
      if (outcome === "accepted") {
        assert.deepEqual(await result, JSON.parse(bytesOf(content).toString()));
      } else await refused(outcome as WebhookVerificationReason, result);
    });
  }
});

suite("a request comes in many shapes", () => {
  const bytes = Buffer.from(body);
  const padded = Buffer.concat([Buffer.from("xx"), bytes, Buffer.from("yy")]);
  const bodies: Record<string, string | Uint8Array | ArrayBuffer> = {
    text: body,
    Buffer: bytes,
    Uint8Array: Uint8Array.from(bytes),
    "view into a larger buffer": padded.subarray(2, -2),
    ArrayBuffer: Uint8Array.from(bytes).buffer,
    "Uint8Array of another realm": runInNewContext("Uint8Array.from(bytes)", { bytes }),
    "ArrayBuffer of another realm": runInNewContext("Uint8Array.from(bytes).buffer", { bytes }),
  };
  for (const [shape, given] of Object.entries(bodies)) {
    test(`body as ${shape}`, async () => {
      assert.deepEqual(await verifyWebhook(given, standard, secret, options), event);
      assert.deepEqual(await verifyWebhook(given, plain, secret, byPlain), event);
    });
  }

  const renamed = (rename: (name: string) => string, headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [rename(name), value]));
  const shapes: Record<
    string,
    (headers: Record<string, string>) => Parameters<typeof verifyWebhook>[1]
  > = {
    Headers: (headers) => new Headers(headers),
    "a Request's headers": (headers) => new Request("http://localhost", { headers }).headers,
    "node:http's headers": (headers): IncomingHttpHeaders =>
      renamed((name) => name.toLowerCase(), headers),
    "upper case": (headers) => renamed((name) => name.toUpperCase(), headers),
    "lists and gaps": (headers) => ({
      host: undefined,
      accept: ["a", "b"],
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    }),
    "an object without a prototype": (headers) => Object.assign(Object.create(null), headers),
  };
  for (const [shape, make] of Object.entries(shapes)) {
    test(`headers as ${shape}`, async () => {
      assert.deepEqual(await verifyWebhook(body, make(standard), secret, options), event);
      assert.deepEqual(await verifyWebhook(body, make(plain), secret, byPlain), event);
    });
  }

  test("a plain header that comes twice is refused", async () => {
    const twice = Object.values(plain).flatMap((value) => [value, value]);
    await refused(
      "malformed-header",
      verifyWebhook(body, { "x-service-signature": twice }, secret, byPlain),
    );
  });

  test("the service's own name is part of the plain header's", async () => {
    const headers = { "X-Acme-Flags-Signature": plain["X-Service-Signature"] };
    const named = { ...byPlain, serviceName: "Acme-Flags" };
    assert.deepEqual(await verifyWebhook(body, headers, secret, named), event);
    await refused(
      "missing-signature",
      verifyWebhook(body, headers, secret, byPlain),
      /X-Service-Signature.*serviceName/,
    );
  });

  test("an event of a later version is passed on", async () => {
    const later = '{"id":"evt_9","type":"flag.archived","data":{},"more":1}';
    const result: unknown = await verifyWebhook(later, signPlain(secret, later), secret, byPlain);
    assert.deepEqual(result, JSON.parse(later));
  });

  test("the type of the event narrows its data", async () => {
    const found = await verifyWebhook(body, standard, secret, options);
    assert.ok(found.type === "flag.enabled" && found.data.flag.type === "rollout");
    const narrowed: [false, number, number] = [
      found.data.previous.enabled,
      found.data.flag.percentage,
      found.sequence,
    ];
    assert.deepEqual(narrowed, [false, 25, 812]);
  });
});

suite("time", () => {
  const after = (seconds: number) => ({ now: () => new Date(at.getTime() + seconds * 1_000) });

  for (const [tolerance, accepted, old] of [
    [undefined, 300, 301],
    [10, 10, 11],
    [0, 0, 1],
  ] as const) {
    test(`a tolerance of ${tolerance ?? "nothing given"}`, async () => {
      const given = tolerance === undefined ? {} : { tolerance };
      for (const seconds of [accepted, -accepted]) {
        const now = after(seconds);
        assert.deepEqual(await verifyWebhook(body, standard, secret, { ...given, ...now }), event);
      }
      await refused(
        "timestamp-too-old",
        verifyWebhook(body, standard, secret, { ...given, ...after(old) }),
        new RegExp(`${old} s ago, and ${accepted} s are tolerated`),
      );
      await refused(
        "timestamp-too-new",
        verifyWebhook(body, standard, secret, { ...given, ...after(-old) }),
        new RegExp(`${old} s from now`),
      );
    });
  }

  test("without a clock given, the machine's is used", async () => {
    const fresh = signStandard([secret], "evt_1", new Date(), body);
    assert.deepEqual(await verifyWebhook(body, fresh, secret), event);
    const stale = signStandard([secret], "evt_1", new Date(Date.now() - 400_000), body);
    await refused("timestamp-too-old", verifyWebhook(body, stale, secret));
  });

  test("a tolerance or a clock that is no number refuses", async () => {
    const broken = { tolerance: Number.NaN, ...options };
    await refused("timestamp-too-old", verifyWebhook(body, standard, secret, broken));
    const noTime = { now: () => new Date("never") };
    await refused("timestamp-too-old", verifyWebhook(body, standard, secret, noTime));
  });

  test("a wrong signature is reported as such, whatever its age", async () => {
    await refused("bad-signature", verifyWebhook(body, standard, secretOf(2), after(9_999)));
  });

  test("an old request that kept only its plain header is rejected, unless the caller allows it", async () => {
    const years = after(4 * 365 * 86_400);
    // Schemes that older versions accepted, and unknown ones, do not bypass this.
    for (const scheme of [undefined, "standard", "any", ""]) {
      const result = verifyWebhook(body, plain, secret, { ...years, scheme } as typeof years);
      await refused("missing-signature", result, /webhook-signature is missing.*scheme: "plain"/);
    }
    const both = { ...standard, ...plain };
    await refused("timestamp-too-old", verifyWebhook(body, both, secret, years));
    assert.deepEqual(await verifyWebhook(body, plain, secret, { ...years, ...byPlain }), event);
  });
});

suite("rotation", () => {
  const next = secretOf(2);

  test("both signatures in one header serve the receiver of either secret", async () => {
    const both = signStandard([next, secret], "evt_1", at, body);
    for (const known of [secret, next, [next, secret], [secretOf(3), secret]]) {
      assert.deepEqual(await verifyWebhook(body, both, known, options), event);
    }
    await refused("bad-signature", verifyWebhook(body, both, secretOf(3), options));
  });

  test("a receiver with both secrets takes either signature, in both schemes", async () => {
    for (const known of [secret, next]) {
      const headers = signStandard([known], "evt_1", at, body);
      assert.deepEqual(await verifyWebhook(body, headers, [next, secret], options), event);
      const old = signPlain(known, body);
      assert.deepEqual(await verifyWebhook(body, old, [next, secret], byPlain), event);
    }
  });

  test("signatures beyond the tenth are not looked at", async () => {
    const [wrong, right] = [secretOf(3), secret];
    const ten = signStandard([...Array<string>(9).fill(wrong), right], "evt_1", at, body);
    assert.deepEqual(await verifyWebhook(body, ten, secret, options), event);
    const eleven = signStandard([...Array<string>(10).fill(wrong), right], "evt_1", at, body);
    await refused("bad-signature", verifyWebhook(body, eleven, secret, options));
  });
});

suite("mistakes of the caller are named", () => {
  for (const given of [{ id: "evt_1" }, null, undefined, 7, [1, 2]]) {
    test(`body ${JSON.stringify(given)}`, async () => {
      const result = verifyWebhook(given as unknown as string, standard, secret, options);
      await refused("body-not-raw", result, /before any JSON parser/);
    });
  }

  for (const given of ["", "secret", `${secret}\n`, secret.slice(6), [], [secret, ""], undefined]) {
    test(`secret ${JSON.stringify(given)?.length ?? "undefined"}`, async () => {
      for (const scheme of ["standard", "plain"] as const) {
        const headers = { ...standard, ...plain };
        const result = verifyWebhook(body, headers, given as string, { ...options, scheme });
        await refused("unusable-secret", result, /as it was returned/);
      }
    });
  }

  test("a body parsed and written again, and another webhook's secret", async () => {
    const again = JSON.stringify(JSON.parse(body), null, 1);
    const message = /parsed and written again.*raw bytes.*secret is another webhook's/;
    await refused("bad-signature", verifyWebhook(again, standard, secret, options), message);
    await refused("bad-signature", verifyWebhook(body, plain, secretOf(2), byPlain), message);
  });

  for (const text of [
    "null",
    "[]",
    '"evt"',
    '{"id":"evt_1","type":"a"}',
    '{"id":"evt_1","type":"a","data":null}',
    '{"id":"evt_1","data":{}}',
    '{"id":1,"type":"a","data":{}}',
  ]) {
    test(`rightly signed ${text}`, async () => {
      const result = verifyWebhook(text, signPlain(secret, text), secret, byPlain);
      await refused("malformed-body", result);
    });
  }
});
