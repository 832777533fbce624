// The headers of CloudEvents on webhook requests: only where they are asked for, and nothing else changes with them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { createFlag, type NewWebhook, register } from "./support/delivery-log.ts";
import {
  type Received,
  type ScriptedReceiver,
  startReceiver,
} from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const publicUrl = "https://flags.example.com/halyard";
let server: TestServer;
let asked: ScriptedReceiver;
let other: ScriptedReceiver;
before(async () => {
  server = await startTestServer({
    HALYARD_PUBLIC_URL: publicUrl,
    HALYARD_CALLBACK_LOOPBACK: "on",
  });
  asked = await startReceiver();
  other = await startReceiver();
});
after(async () => {
  await Promise.all([asked.close(), other.close()]);
  await server.close();
});

const registerAsked = async (admin: Api): Promise<NewWebhook> => {
  const body = { url: asked.url, events: ["*"], cloudEvents: true };
  const made = await admin("POST", "/webhooks", body);
  assert.equal(made.status, 201, made.text);
  const { id, secret } = made.body as NewWebhook;
  assert.deepEqual(made.body, { ...body, id, secret, active: true });
  return { id, secret };
};

const eventOf = ({ body }: Received) =>
  JSON.parse(body.toString()) as { id: string; type: string; createdAt: string };

const receivedOf = (receiver: ScriptedReceiver, type: string): Promise<Received> =>
  until(type, () => receiver.received.find((each) => eventOf(each).type === type) ?? false);

const cloudHeaders = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("ce-")));

test("a webhook that asks for them gets what the body says as headers; body and signatures stay the same", async () => {
  const environment = await server.environment();
  const { admin } = environment;
  const { id, secret } = await registerAsked(admin);
  const plain = await register(admin, other.url);
  const key = await createFlag(admin);
  await admin("POST", "/segments", { key: "beta", include: ["user-1"] });
  await admin("POST", `/webhooks/${id}/test`);
  for (const [type, subject] of [
    ["flag.created", `flags/${key}`],
    ["segment.created", "segments/beta"],
    ["webhook.test", `webhooks/${id}`],
  ] as const) {
    const request = await receivedOf(asked, type);
    const event = eventOf(request);
    assert.deepEqual(cloudHeaders(request.headers), {
      "ce-specversion": "1.0",
      "ce-id": event.id,
      "ce-source": `${publicUrl}/environments/${environment.name}`,
      "ce-type": type,
      "ce-time": event.createdAt,
      "ce-subject": subject,
    });
    assert.equal(request.headers["content-type"], "application/json");
    await verifyWebhook(request.body, request.headers, secret);
  }

  const [one, same] = [
    await receivedOf(asked, "flag.created"),
    await receivedOf(other, "flag.created"),
  ];
  assert.deepEqual(same.body, one.body);
  assert.deepEqual(cloudHeaders(same.headers), {});
  await verifyWebhook(same.body, same.headers, plain.secret);

  const [delivery] = (await admin("GET", `/webhooks/${id}/deliveries?flag=${key}`)).body as [
    { id: string },
  ];
  const sent = (await admin("GET", `/webhooks/${id}/deliveries/${delivery.id}`)).body;
  const { headers } = (sent as { request: { headers: object } }).request;
  assert.deepEqual(cloudHeaders(headers), cloudHeaders(one.headers));
});

test("it is changed later, in the history, and absent where it is off", async () => {
  const { admin } = await server.environment();
  const { id } = await registerAsked(admin);
  const shown = async () => (await admin("GET", `/webhooks/${id}`)).body as object;
  assert.partialDeepStrictEqual(await shown(), { cloudEvents: true });
  // What a change does not name stays.
  await admin("PATCH", `/webhooks/${id}`, { events: ["flag.deleted"] });
  assert.partialDeepStrictEqual(await shown(), { events: ["flag.deleted"], cloudEvents: true });
  const off = await admin("PATCH", `/webhooks/${id}`, { cloudEvents: false });
  assert.ok(!Object.hasOwn(off.body as object, "cloudEvents"), off.text);
  assert.ok(!Object.hasOwn(await shown(), "cloudEvents"));
  const [entry] = (await admin("GET", "/history?limit=1")).body as {
    before: object;
    after: object;
  }[];
  assert.partialDeepStrictEqual(entry?.before, { cloudEvents: true });
  assert.ok(entry && !Object.hasOwn(entry.after, "cloudEvents"));

  const before = asked.received.length;
  await admin("POST", `/webhooks/${id}/test`);
  await until("the test", () => asked.received.length > before);
  assert.deepEqual(cloudHeaders(asked.received[before]?.headers ?? { "ce-id": "" }), {});

  await admin("PATCH", `/webhooks/${id}`, { cloudEvents: true });
  assert.partialDeepStrictEqual(await shown(), { cloudEvents: true });
  for (const cloudEvents of ["on", 1, null]) {
    const refused = await admin("PATCH", `/webhooks/${id}`, { cloudEvents });
    assertRefused(refused, 400, "cloudEvents", "true or false");
  }
});
