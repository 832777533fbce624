// halyard webhooks, with a real receiver.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import type { CreatedWebhook, Delivery, RotatedSecret, Webhook } from "@halyard/sdk/management";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { accept } from "../../server/test/support/scripted-receiver.ts";
import { until } from "../../server/test/support/until.ts";
import { commandSuite } from "./support/command-suite.ts";

const tested = commandSuite();

const create = (...args: string[]) =>
  tested.halyard.read<CreatedWebhook>("webhooks", "create", tested.receiver.url, ...args);
const change = (key: string) =>
  tested.environment.admin("POST", "/flags", { key, type: "boolean" });
const received = (count: number) =>
  until(
    `${count} requests`,
    () => tested.receiver.received.length >= count && tested.receiver.received,
  );

test("a webhook is created, shown, tested, paused, resumed and deleted", async () => {
  const made = await tested.halyard.run(
    "webhooks",
    "create",
    tested.receiver.url,
    "--events",
    "flag.created",
  );
  const [, id = "", secret = ""] =
    /^id {6}(wh_[0-9a-f]{24})\nsecret {2}(whsec_\S+)\n$/.exec(made.stdout) ?? [];
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stderr, new RegExp(`won't be shown again[\\s\\S]*halyard webhooks test ${id}`));
  const [listed] = await tested.halyard.read<Webhook[]>("webhooks", "list");
  assert.deepEqual(
    { id: listed?.id, url: listed?.url, events: listed?.events, active: listed?.active },
    { id, url: tested.receiver.url, events: ["flag.created"], active: true },
  );
  assert.match(
    await tested.halyard.succeed("webhooks", "list"),
    new RegExp(`^ID .*\\n${id} {2}active {2}flag\\.created {2}${tested.receiver.url}\\n$`),
  );
  assert.match(
    await tested.halyard.succeed("webhooks", "get", id),
    /events {3}flag\.created\n {2}state {4}active\n.*\n {2}health {3}idle\n {2}pending {2}0, /,
  );

  assert.match(
    await tested.halyard.succeed("webhooks", "test", id),
    new RegExp(`^The receiver of ${id} in \\S+ at \\S+ accepted the test: 204 in \\d+ ms\\.\n$`),
  );
  const [first] = tested.receiver.received;
  assert.ok(first);
  assert.equal((await verifyWebhook(first.body, first.headers, secret)).type, "webhook.test");
  tested.receiver.answer(() => ({ status: 500, body: "out of\norder" }));
  await tested.halyard.refuse(
    ["webhooks", "test", id],
    1,
    /500 in \d+ ms, "out of order"\. It will be retried/,
  );
  tested.receiver.answer(accept);

  const paused = await tested.halyard.run("webhooks", "pause", id);
  assert.equal(
    paused.stdout,
    `${id} is paused in ${tested.environment.name} at ${tested.server.url}: no events are sent to ${tested.receiver.url}.\n`,
  );
  await change("while-paused");
  await tested.halyard.refuse(["webhooks", "test", id], 5, /is not active/);
  assert.match(
    await tested.halyard.succeed("webhooks", "resume", id),
    /is active in \S+ at \S+: events are sent/,
  );
  // The command that pausing suggests replays the missed events.
  const [, command = ""] = /^ {2}halyard (.*)$/m.exec(paused.stderr) ?? [];
  assert.match(
    await tested.halyard.succeed(...command.split(" ")),
    /^Queued 1 event in \S+ at \S+, up to sequence \d+;/,
  );
  await until("the event that was missed", () => {
    const texts = tested.receiver.received.map(({ body }) => body.toString());
    return texts.filter((text) => text.includes("while-paused")).length === 1;
  });

  // The output distinguishes a pause by Halyard, with its reason, from one by a user.
  tested.receiver.answer(() => ({ status: 410 }));
  await tested.halyard.refuse(["webhooks", "test", id], 1, /410/);
  tested.receiver.answer(accept);
  assert.match(
    await tested.halyard.succeed("webhooks", "list"),
    new RegExp(`^ID .*\\n${id} {2}deactivated {2}`),
  );
  assert.match(
    await tested.halyard.succeed("webhooks", "get", id),
    /state {4}deactivated\n.*\n {2}health {3}deactivated: it answered 410 Gone\n/,
  );
  // Without the data that the folder of the tests may contain.
  const { stdout } = await tested.halyard
    .with({ HALYARD_DATA: `${tested.server.folder}/none` })
    .run("doctor");
  assert.match(stdout, new RegExp(`${id} .* \\(Halyard deactivated it: it answered 410 Gone\\)`));

  await tested.halyard.refuse(["webhooks", "delete", id], 2, /Delete wh_.*with --yes/);
  assert.match(await tested.halyard.succeed("webhooks", "delete", id, "--yes"), /^Deleted wh_/);
  await tested.halyard.refuse(["webhooks", "get", id], 3, new RegExp(`"${id}" does not exist`));
});

test("events and CloudEvents headers are chosen, and changed later", async () => {
  const { id, cloudEvents } = await create("--cloud-events");
  assert.equal(cloudEvents, true);
  assert.match(await tested.halyard.succeed("webhooks", "get", id), /headers {2}CloudEvents/);
  assert.equal(
    await tested.halyard.succeed("webhooks", "update", id, "--events", "flag.created,flag.deleted"),
    `${id} is changed in ${tested.environment.name} at ${tested.server.url}: ${tested.receiver.url} gets flag.created, flag.deleted, with CloudEvents headers.\n`,
  );
  const off = await tested.halyard.read<Webhook>("webhooks", "update", id, "--no-cloud-events");
  assert.deepEqual([off.events, off.cloudEvents], [["flag.created", "flag.deleted"], undefined]);
  const on = await tested.halyard.read<Webhook>("webhooks", "update", id, "--cloud-events");
  assert.deepEqual([on.events, on.cloudEvents], [["flag.created", "flag.deleted"], true]);
  await tested.halyard.refuse(["webhooks", "update", id], 2, /Nothing to change: pass --events/);
  await tested.halyard.succeed("webhooks", "delete", id, "--yes");
});

test("the secret is rotated, immediately or with a day of overlap", async () => {
  const { id, secret } = await create();
  const rotated = await tested.halyard.run("webhooks", "rotate", id);
  const newer = rotated.stdout.trim();
  assert.match(newer, /^whsec_/);
  assert.match(rotated.stderr, /before \S+Z: until then, .* also signed with the old one/);
  const count = tested.receiver.received.length;
  await tested.halyard.succeed("webhooks", "test", id);
  const request = (await received(count + 1))[count];
  assert.ok(request);
  for (const good of [secret, newer]) {
    await verifyWebhook(request.body, request.headers, good);
  }
  const last = await tested.halyard.read<RotatedSecret>("webhooks", "rotate", id, "--immediately");
  assert.equal(last.previousSecretValidUntil, null);
  assert.notEqual(last.secret, newer);
  await tested.environment.admin("DELETE", `/webhooks/${id}`);
});

test("deliveries are listed, and retried or replayed", async () => {
  const { id } = await create("--events", "flag.created,flag.enabled");
  const before = tested.receiver.received.length;
  for (const key of ["one", "two", "three"]) await change(key);
  await received(before + 3);
  const list = (...args: string[]) =>
    tested.halyard.read<Delivery[]>("webhooks", "deliveries", id, ...args);
  const settled = await until("all delivered", async () => {
    const { body } = await tested.environment.admin(
      "GET",
      `/webhooks/${id}/deliveries?state=delivered`,
    );
    return (body as Delivery[]).length === 3 && (body as Delivery[]);
  });
  assert.deepEqual(await list("--state", "delivered"), settled);
  assert.deepEqual(await list("--state", "failed"), []);
  const [two] = await list("--flag", "two");
  assert.equal(two?.event.flagKey, "two");
  assert.equal((await list("--limit", "2")).length, 2);
  assert.match(
    await tested.halyard.succeed("webhooks", "deliveries", id, "--flag", "two"),
    /^ID .*\ndlv_\S+ +delivered {2}flag\.created {2}two {3}\d+ +\S+Z {2}1 {9}204 in \d+ ms\n$/,
  );

  assert.match(
    await tested.halyard.succeed("webhooks", "retry", id),
    /^Waiting deliveries are due now in \S+ at \S+\. .* halyard webhooks get wh_/,
  );
  assert.match(
    await tested.halyard.succeed("webhooks", "replay", id, two?.id ?? ""),
    /^Queued again in \S+ at \S+ as dlv_/,
  );
  await received(before + 4);
  assert.match(tested.receiver.received.at(-1)?.body.toString() ?? "", /"two"/);
  const after = String((settled.at(-1)?.event.sequence ?? 0) - 1);
  assert.deepEqual(await tested.halyard.read("webhooks", "replay", id, "--after-sequence", after), {
    replayed: 3,
    throughSequence: settled[0]?.event.sequence,
    state: "complete",
    environment: tested.environment.name,
    server: tested.server.url,
  });
  await received(before + 7);
  const nothing = ["--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02T00:00:00Z"];
  assert.match(
    await tested.halyard.succeed("webhooks", "replay", id, ...nothing),
    /^No event in that range/,
  );
  await tested.environment.admin("DELETE", `/webhooks/${id}`);
});

test("the command waits for a range that is queued in parts", async () => {
  const before = tested.receiver.received.length;
  const created = await tested.environment.admin("POST", "/webhooks", {
    url: tested.receiver.url,
    events: ["flag.updated"],
  });
  const { id } = created.body as { id: string };
  await tested.environment.admin("POST", "/flags", { key: "often", type: "boolean" });
  for (let index = 0; index < 60; index += 1) {
    await tested.environment.admin("PATCH", "/flags/often", { description: `${index}` });
  }
  await received(before + 60);
  const { replayed } = await tested.halyard.read<{ replayed: number }>(
    ...["webhooks", "replay", id, "--after-sequence", "0"],
  );
  assert.ok(replayed >= 60, `${replayed}`);
  await received(before + 60 + replayed);
  await tested.environment.admin("DELETE", `/webhooks/${id}`);
});

test("a delayed test shows when it is due, and which delivery it waits for", async (t) => {
  // A canned response of a server that delays the test. Waiting for a real one would take too long.
  const createdAt = "2026-11-15T00:00:00.000Z";
  const nextAttemptAt = "2026-11-15T00:10:00.000Z";
  const waiting = (id: string) => ({ id, kind: "test", createdAt, nextAttemptAt, attempts: [] });
  let pending = [waiting("dlv_2"), waiting("dlv_1")];
  const slow = createServer((request, response) => {
    const answers: Readonly<Record<string, unknown>> = {
      "GET /api/v1/key": { environment: "development" },
      "POST /api/v1/webhooks/wh_1/test": waiting("dlv_2"),
      "GET /api/v1/webhooks/wh_1/deliveries/dlv_2": waiting("dlv_2"),
      "GET /api/v1/webhooks/wh_1/deliveries": pending,
    };
    const path = request.url?.replace(/[?].*/, "") ?? "";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answers[`${request.method} ${path}`]));
  }).listen(0, "127.0.0.1");
  await once(slow, "listening");
  t.after(() => slow.close());
  const { port } = slow.address() as AddressInfo;
  const args = ["webhooks", "test", "wh_1", "--url", `http://127.0.0.1:${port}`];
  await tested.halyard.refuse(
    args,
    6,
    /dlv_2 is still waiting to be sent, behind an earlier test that is pending \(dlv_1\) and due at 2026-11-15T00:10:00\.000Z; check later/,
  );
  pending = [waiting("dlv_2")];
  await tested.halyard.refuse(args, 6, /to be sent, due at 2026-11-15T00:10:00\.000Z; check later/);
});

suite("errors are reported", { concurrency: 2 }, () => {
  const none = "wh_000000000000000000000000";
  const cases: [what: string, args: string[], code: number, said: RegExp][] = [
    ["bad address", ["create", "ftp://example.com"], 2, /^halyard: url must be/],
    ["bad event", ["create", "https://example.com/", "--events", "flag.moved"], 2, /flag\.created/],
    ["missing", ["test", none], 3, /does not exist/],
    ["replay of nothing", ["replay", none], 2, /either one delivery or a range/],
    ["replay of both", ["replay", none, "dlv_1", "--from", "1h"], 2, /either one delivery or a/],
    [
      "bad time",
      ["replay", none, "--from", "yesterday"],
      2,
      /such as 2026-11-14T12:00:00Z, or an age/,
    ],
    [
      "bad state",
      ["deliveries", none, "--state", "lost"],
      2,
      /choices are pending, retrying, delivered/,
    ],
  ];
  for (const [what, args, code, said] of cases) {
    test(what, () => tested.halyard.refuse(["webhooks", ...args], code, said));
  }
});
