// Foreign text is printed for users without characters that a terminal would interpret, and for scripts unchanged.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { CreatedWebhook, Flag } from "@halyard/sdk/management";
import { spawnHalyard } from "../../server/test/support/halyard-process.ts";
import {
  type ScriptedReceiver,
  startReceiver,
} from "../../server/test/support/scripted-receiver.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";

/** Sets the title, clears the screen, starts a line, colors text with a single character, and reverses the reading direction. */
const nasty =
  "one\u001b]0;owned\u0007\u001b[2J\r\nforged\u007f\u009b31mend\u0085\u202eback\u2066\u200f\u061c\u2028over\u2069";
const cleaned = /one \]0;owned \[2J forged 31mend back over/;
/** All control characters except our own line breaks. */
const controls = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

let server: TestServer;
let environment: TestEnvironment;
let receiver: ScriptedReceiver;
let settings: Record<string, string>;
let halyard: CommandRunner;
let webhook: CreatedWebhook;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  receiver = await startReceiver(() => ({ status: 500, body: nasty }));
  const made = await environment.admin("POST", "/keys", { name: nasty, role: "admin" });
  const { key } = made.body as { key: string };
  const flag = { key: "plain", type: "boolean", description: nasty };
  await server.api(key)("POST", "/flags", flag);
  await server.api(key)("PATCH", "/flags/plain", { description: `more than ${nasty}` });
  const registered = await environment.admin("POST", "/webhooks", {
    url: receiver.url,
    events: ["flag.deleted"],
  });
  webhook = registered.body as CreatedWebhook;
  settings = settingsFor(server, key);
  halyard = createRunner(settings);
  writeFileSync(
    join(server.folder, "flags.json"),
    JSON.stringify({ halyard: 1, flags: [{ ...flag, enabled: true }] }),
  );
  writeFileSync(
    join(server.folder, "flagd.json"),
    JSON.stringify({ flags: { [nasty]: { state: "ENABLED" } } }),
  );
});
after(async () => {
  await server.close();
  await receiver.close();
});

suite("text", () => {
  const cases: [what: string, args: () => string[], shows: RegExp][] = [
    ["flags list", () => ["flags", "list"], cleaned],
    ["flags get", () => ["flags", "get", "plain"], cleaned],
    ["flags history", () => ["flags", "history", "plain"], cleaned],
    ["events tail", () => ["events", "tail", "--since", "1h", "--count", "2"], cleaned],
    ["keys list", () => ["keys", "list"], cleaned],
    ["webhooks test", () => ["webhooks", "test", webhook.id], cleaned],
    ["import", () => ["import", join(server.folder, "flags.json"), "--dry-run"], /description "/],
    [
      "import of others",
      () => ["import", join(server.folder, "flagd.json"), "--from", "flagd", "--dry-run"],
      cleaned,
    ],
    ["doctor", () => ["doctor", "--profile", nasty], cleaned],
  ];
  for (const [what, args, shows] of cases) {
    test(what, async () => {
      const { stdout, stderr } = await halyard.run(...args());
      assert.match(stdout + stderr, shows);
      assert.doesNotMatch(stdout + stderr, controls);
      assert.doesNotMatch(stdout + stderr, /^forged/m);
    });
  }

  test("webhooks listen", async () => {
    await server.api(settings.HALYARD_API_KEY ?? "")("POST", "/flags", {
      key: "heard",
      type: "boolean",
    });
    const listening = spawnHalyard(["webhooks", "listen", "--since", "1h"], settings);
    await listening.printed(/heard[^\n]*\n/);
    listening.kill("SIGTERM");
    const { stdout } = await listening.ended;
    assert.match(stdout, cleaned);
    assert.doesNotMatch(stdout, controls);
  });

  test("our own colors are kept", async () => {
    const colored = halyard.with({ FORCE_COLOR: "1" });
    const listed = await colored.succeed("flags", "list", "--search", "plain");
    const off = "\u001b[2moff\u001b[22m";
    assert.ok(listed.includes(`\nplain  ${off}    everyone  more than one`), listed);
    assert.doesNotMatch(listed.split("\n")[1]?.replace(off, "") ?? "", controls);
  });
});

test("JSON contains the original text", async () => {
  for (const args of [
    ["flags", "get", "plain", "--json"],
    ["flags", "list", "--search", "plain", "--json"],
    ["events", "tail", "--since", "1h", "--count", "1", "--json"],
    ["export", "--format", "json"],
  ]) {
    const text = await halyard.succeed(...args);
    assert.doesNotMatch(text, controls, args.join(" "));
    const found = JSON.stringify(JSON.parse(text));
    assert.ok(found.includes(JSON.stringify(nasty).slice(1)), args.join(" "));
  }
  const flag = await halyard.read<Flag>("flags", "get", "plain");
  assert.equal(flag.description, `more than ${nasty}`);
});
