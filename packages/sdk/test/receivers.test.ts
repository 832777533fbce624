// The guide for receivers is true: its programs run from its own text, take what is signed and refuse what is not.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { suite, type TestContext, test } from "node:test";
import { eventTypes } from "@halyard/core/event-types";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { block, folderOf, guide, missing, startReceiver } from "./support/guide.ts";
import { check, refusesToStart, secret } from "./support/receivers.ts";
import { secretOf, signPlain, signStandard } from "./support/vectors.ts";

// What Next.js does with a route: hand it a Request, send its Response.
const nextHost = `
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { POST } from "./app/hooks/flags/route.ts";
createServer(async (request, response) => {
  const { method, headers } = request;
  const body = await buffer(request);
  const answer = await POST(new Request("http://127.0.0.1/hooks/flags", { method, headers, body }));
  response.writeHead(answer.status).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
`;

suite("receivers of the guide", () => {
  const run = async (context: TestContext, title: string, command: string, ...args: string[]) => {
    const folder = folderOf(context, { [title]: block(title), "next-host.mjs": nextHost });
    await check(await startReceiver(context, folder, secret, command, ...args));
  };
  const { execPath } = process;

  test("Node", (context) => run(context, "receiver.mjs", execPath, "receiver.mjs"));

  test("Fastify", (context) => run(context, "fastify.mjs", execPath, "fastify.mjs"));

  test("Next.js", (context) => run(context, "app/hooks/flags/route.ts", execPath, "next-host.mjs"));

  test("Node does not start without a secret", (context) =>
    refusesToStart(context, "receiver.mjs", execPath));
});

suite("commands of the guide", { skip: missing("openssl", "version") }, () => {
  test("OpenSSL makes the signatures that stand there", () => {
    const { stdout } = spawnSync("sh", ["-c", block("signatures.sh")], { encoding: "utf8" });
    assert.equal(stdout, block("signatures.txt"));
    const body = '{"id":"evt_01","type":"webhook.test","data":{}}';
    const known = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const standard = signStandard([known], "evt_01", new Date(1_794_657_600_000), body);
    const plain = signPlain(known, body);
    const expected = [standard["webhook-signature"], plain["X-Service-Signature"], ""];
    assert.equal(stdout, expected.join("\n"));
  });

  test("a request signed in the shell is taken", {
    skip: missing("curl", "--version"),
  }, async (context) => {
    const folder = folderOf(context, { "receiver.mjs": block("receiver.mjs") });
    const receiver = await startReceiver(context, folder, secret, process.execPath, "receiver.mjs");
    for (const [known, status] of [
      [secret, "204\n"],
      [secretOf(2), "401\n"],
    ] as const) {
      const env = { ...process.env, HALYARD_WEBHOOK_SECRET: known };
      const child = spawn("sh", ["-c", block("send.sh"), "send.sh", receiver.url], { env });
      const [printedStatus] = await Promise.all([text(child.stdout), once(child, "exit")]);
      assert.equal(printedStatus, status);
    }
  });
});

suite("examples of the guide", () => {
  const examples = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
  // A row begins with one name, or with several of one kind, where the others are known by their ends.
  const listed = [
    ...guide.matchAll(
      /^\| (`(?:flag|segment|webhook|change_request)\.[a-z]+`(?:, `\.[a-z]+`)*) +\|/gm,
    ),
  ].flatMap((match) => {
    const names = [...(match[1] ?? "").matchAll(/`([a-z_]*)(\.[a-z]+)`/g)];
    const kind = names[0]?.[1] ?? "";
    return names.map(([, own, end]) => `${own || kind}${end}`);
  });

  test("it lists every type, and has an example of each kind of event", () => {
    const shown = examples.map((example) => (JSON.parse(example) as { type: string }).type);
    assert.deepEqual(new Set(listed), new Set([...eventTypes, "webhook.test"]));
    assert.deepEqual(shown, ["flag.enabled", "segment.updated", "webhook.test"]);
  });

  const dataOf: Readonly<Record<string, readonly string[]>> = {
    "flag.enabled": ["flag", "version", "previous"],
    "segment.updated": ["segment", "version", "previous", "include", "flags"],
    "webhook.test": ["webhook"],
  };
  for (const example of examples) {
    const { type, ...rest } = JSON.parse(example) as Record<string, unknown>;
    test(`${String(type)} has the fields that the table names`, async () => {
      const event = await verifyWebhook(example, signPlain(secret, example), secret, {
        scheme: "plain",
      });
      assert.equal(event.type, type);
      const fields = ["id", "createdAt", "environment", "sequence", "chain", "data", "actor"];
      assert.deepEqual(Object.keys(rest), fields);
      assert.deepEqual(Object.keys(event.data), dataOf[event.type]);
      assert.deepEqual(Object.keys(event.actor), ["keyId", "name"]);
    });
  }
});
