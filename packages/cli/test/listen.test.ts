// halyard webhooks listen and trigger: events for a receiver without a change, and for one that the server can't reach.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CreatedWebhook, Webhook } from "@halyard/sdk/management";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { spawnHalyard } from "../../server/test/support/halyard-process.ts";
import {
  type ScriptedReceiver,
  startReceiver,
} from "../../server/test/support/scripted-receiver.ts";
import { until } from "../../server/test/support/until.ts";
import { commandSuite } from "./support/command-suite.ts";

const tested = commandSuite();

const register = async (events: readonly string[], more = {}): Promise<CreatedWebhook> => {
  const body = { url: tested.receiver.url, events, ...more };
  return (await tested.environment.admin("POST", "/webhooks", body)).body as CreatedWebhook;
};

test("trigger sends an event that looks like a real one to one webhook", async () => {
  const { id, secret } = await register(["flag.deleted"]);
  assert.match(
    await tested.halyard.succeed("webhooks", "trigger", "flag.enabled", id),
    new RegExp(
      `^The receiver of ${id} in \\S+ at \\S+ accepted flag\\.enabled: 204 in \\d+ ms\\.\n$`,
    ),
  );
  const [sent] = tested.receiver.received;
  assert.ok(sent);
  assert.equal(sent.headers["x-service-event"], "flag.enabled");
  const event = await verifyWebhook(sent.body, sent.headers, secret);
  assert.partialDeepStrictEqual(event, {
    type: "flag.enabled",
    sequence: null,
    data: { flag: { key: "example", enabled: true }, previous: { enabled: false } },
  });
  await tested.environment.admin("DELETE", `/webhooks/${id}`);
});

test("listen forwards the same requests as a webhook, signed with its own secret, and registers nothing", async () => {
  const forwarded = await startReceiver();
  const secret = `whsec_${Buffer.from("a secret for the listener").toString("base64")}`;
  const registered = await register(["*"], { cloudEvents: true });
  await tested.environment.admin("POST", "/flags", { key: "heard", type: "boolean" });
  const about = ({ received }: ScriptedReceiver) =>
    received.find(({ body }) => body.includes('"key":"heard"'));
  const other = await until("the webhook has it", () => about(tested.receiver));
  const listening = spawnHalyard(
    [
      ...["webhooks", "listen", "--json", "--since", "1h"],
      ...["--forward-to", forwarded.url, "--cloud-events"],
    ],
    { ...tested.settings, HALYARD_WEBHOOK_SECRET: secret },
  );
  await listening.printed(/"type":"flag\.created".*"key":"heard".*\n/);
  const own = await until("it is forwarded", () => about(forwarded));
  listening.kill("SIGINT");
  const { code, stderr } = await listening.ended;
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    new RegExp(`signed with ${secret}\\. Ctrl-C stops it\\.\\n  \\S+: 204 in \\d+ ms\n`),
  );
  assert.deepEqual(own.body, other.body, "the exact bytes");
  await verifyWebhook(own.body, own.headers, secret);
  await verifyWebhook(other.body, other.headers, registered.secret);
  const names = (headers: object) =>
    Object.keys(headers)
      .filter((name) => name !== "connection")
      .sort();
  assert.deepEqual(names(own.headers), names(other.headers));
  for (const name of [
    ...["user-agent", "content-type", "accept-encoding", "x-service-event"],
    ...["ce-specversion", "ce-id", "ce-type", "ce-time", "ce-subject"],
  ]) {
    assert.equal(own.headers[name], other.headers[name], name);
  }
  assert.match(own.headers["ce-source"] as string, /^http:\/\/.*\/environments\//);
  const list = (await tested.environment.admin("GET", "/webhooks")).body as Webhook[];
  assert.deepEqual(
    list.map(({ id }) => id),
    [registered.id],
  );
  await tested.environment.admin("DELETE", `/webhooks/${registered.id}`);
  await forwarded.close();
});

test("errors are reported", async () => {
  const none = "wh_000000000000000000000000";
  const cases: [args: string[], said: RegExp][] = [
    [["trigger", "flag.moved", none], /flag\.created, flag\.enabled/],
    [["listen", "--events", "flag.moved"], /accepts \*, flag\.created/],
    [["listen", "--forward-to", "here"], /such as http:\/\/localhost/],
    [["listen", "--secret", "x"], /whsec_ followed by base64/],
  ];
  for (const [args, said] of cases) await tested.halyard.refuse(["webhooks", ...args], 2, said);
});
