// Every tool, called by the official client over HTTP and over stdio, in both protocol versions.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { signInAs } from "../../server/test/support/people.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { people, reportTraffic } from "../../server/test/support/traffic.ts";
import { type Assistant, overHttp, overStdio } from "./support/assistant.ts";

const reading = [
  ...["find_flags", "get_flag", "explain", "history", "stale_flags", "webhook_health"],
  "preview_change",
];
const writing = ["plan_change", "plan_rollback", "apply_plan"];

let server: TestServer;
let environment: TestEnvironment;
let editor: string;

before(async () => {
  server = await startTestServer({ HALYARD_MCP: "on" });
  environment = await server.environment();
  editor = await environment.newKey("editor");
});
after(() => server.close());

type Plan = { readonly plan: string; readonly preview: { readonly changed: number } };

/** Each test has its own environment. */
const walk = async (
  { admin, keys, name }: TestEnvironment,
  assistant: Assistant,
): Promise<void> => {
  assert.deepEqual(await assistant.tools(), [...reading, ...writing]);
  const tools = await assistant.client.listTools();
  for (const { description, annotations } of tools.tools) {
    assert.ok((description ?? "").length > 60);
    assert.equal(typeof annotations?.readOnlyHint, "boolean");
  }

  const create = {
    operations: [
      {
        kind: "flag",
        action: "create",
        key: "checkout",
        body: { type: "rollout", percentage: 10 },
      },
    ],
    reason: "A new checkout",
  };
  const created = await assistant.use("plan_change", create);
  assert.equal((await admin("GET", "/flags/checkout")).status, 404);
  await assistant.use("apply_plan", { plan: created.data.plan });
  await admin("PATCH", "/flags/checkout", { enabled: true, description: "For all" });
  await reportTraffic(server.url, keys.server, "checkout", people(50));

  const found = await assistant.use("find_flags", { text: "check" });
  assert.equal(found.sentence, "1 flag.");
  assert.deepEqual(found.data, {
    environment: name,
    flags: [
      { key: "checkout", type: "rollout", enabled: true, percentage: 10, description: "For all" },
    ],
  });
  const shown = await assistant.use("get_flag", { key: "checkout" });
  assert.equal(shown.data.version, 2);
  const past = await assistant.use("get_flag", { key: "checkout", revision: 1 });
  assert.equal((past.data.flag as { enabled: boolean }).enabled, false);

  const context = { targetingKey: "user-1" };
  const explained = await assistant.use("explain", { key: "checkout", context });
  assert.equal(explained.data.variant, "off");
  const patch = { percentage: 100 };
  const would = await assistant.use("explain", { key: "checkout", context, patch });
  assert.equal(would.data.variant, "on");

  const operations = [{ kind: "flag", action: "patch", key: "checkout", body: patch }];
  const preview = await assistant.use("preview_change", { operations });
  const { changed } = preview.data.preview as Plan["preview"];
  assert.ok(changed > 30, `${changed} of 50`);

  const planned = await assistant.use("plan_change", { operations, reason: "Everybody" });
  assert.match(
    planned.sentence,
    /^Nothing has changed yet\..*apply_plan applies the change immediately/,
  );
  assert.deepEqual(planned.data.changes, [
    {
      ...{ kind: "flag", action: "patch", key: "checkout", version: 2 },
      changes: [{ member: "percentage", before: 10, after: 100 }],
    },
  ]);
  assert.equal((planned.data as unknown as Plan).preview.changed, changed);
  const applied = await assistant.use("apply_plan", { plan: planned.data.plan });
  assert.equal(applied.data.outcome, "applied");
  const now = await admin("GET", "/flags/checkout");
  assert.equal((now.body as { percentage: number }).percentage, 100);

  const history = await assistant.use("history", { key: "checkout", limit: 1 });
  const [entry] = history.data.entries as { reason: string; by: string; changes: unknown }[];
  assert.equal(entry?.reason, "Everybody");
  assert.equal(entry?.by, "editor");
  assert.deepEqual(entry?.changes, [{ member: "percentage", before: 10, after: 100 }]);

  const parts = { text: "HECK", by: "DIT", limit: 1 };
  const searched = await assistant.use("history", parts);
  assert.deepEqual(searched.data.entries, history.data.entries);
  assert.equal(
    (await assistant.use("history", { text: "none" })).sentence,
    "0 changes, newest first.",
  );

  const back = await assistant.use("plan_rollback", { revision: 2, reason: "Too soon" });
  await assistant.use("apply_plan", { plan: back.data.plan });
  const again = await admin("GET", "/flags/checkout");
  assert.equal((again.body as { percentage: number }).percentage, 10);
  const nothing = await assistant.refused("plan_rollback", { revision: 2, reason: "Too soon" });
  assert.equal(nothing.code, "NOTHING_TO_CHANGE");

  const stale = await assistant.use("stale_flags");
  assert.equal(stale.sentence, "Stale: 0 of 1 flag.");
  const hook = { url: "https://hooks.example.com/secret-path", events: ["*"] };
  assert.equal((await admin("POST", "/webhooks", hook)).status, 201);
  const health = await assistant.use("webhook_health");
  const [webhook] = health.data.webhooks as { receiver: string; status: string }[];
  assert.equal(webhook?.receiver, "https://hooks.example.com");
  assert.doesNotMatch(JSON.stringify(health.data), /secret-path/);
};

suite("the official client calls every tool", () => {
  for (const era of ["auto", "legacy"] as const) {
    test(`over HTTP, ${era}`, async () => {
      const own = await server.environment();
      const assistant = await overHttp(server, await own.newKey("editor"), era);
      await walk(own, assistant);
      await assistant.close();
    });
  }

  test("over stdio", async () => {
    const own = await server.environment();
    const assistant = await overStdio(server, await own.newKey("editor"));
    await walk(own, assistant);
    await assistant.close();
  });
});

suite("permissions", () => {
  test("a read-only key gets only tools that read", async () => {
    const assistant = await overHttp(server, environment.keys.server);
    assert.deepEqual(await assistant.tools(), reading);
    await assert.rejects(assistant.use("apply_plan", { plan: "plan_x" }), /apply_plan/);
    await assistant.close();
  });

  test("the user is named before the key", async () => {
    const { name, keys } = await server.environment();
    const ada = await signInAs(server, { name: "Ada Lovelace", roles: { [name]: "editor" } });
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const body = { name: "cli", role: "editor", expiresAt };
    const made = await ada.in(name)("POST", "/personal-keys", body);
    const cli = server.api((made.body as { key: string }).key);
    await cli("POST", "/flags", { key: "hers", type: "boolean" });
    const assistant = await overHttp(server, keys.server);
    const history = await assistant.use("history", { by: "lovelace" });
    const [entry] = history.data.entries as { by: string }[];
    assert.equal(entry?.by, "Ada Lovelace (key cli)");
    const flag = await assistant.use("get_flag", { key: "hers" });
    assert.equal((flag.data.lastChange as { by: string }).by, "Ada Lovelace (key cli)");
    await assistant.close();
  });

  test("halyard mcp --read-only offers only tools that read, with any key", async () => {
    const assistant = await overStdio(server, editor, "legacy", "--read-only");
    assert.deepEqual(await assistant.tools(), reading);
    await assert.rejects(assistant.use("plan_change", {}), /plan_change/);
    await assistant.close();
  });
});
