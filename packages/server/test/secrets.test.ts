// Secrets stay secret: a server at its most talkative, its answers and its files show none; and its key can be replaced.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createApi } from "./support/api.ts";
import { readContents, writeRows } from "./support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  type NewWebhook,
  readLog,
  register,
  wasAttempted,
} from "./support/delivery-log.ts";
import { type RunningServer, serveHalyard } from "./support/halyard-process.ts";
import { exchange } from "./support/raw-http.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { newFolder } from "./support/server.ts";
import { until } from "./support/until.ts";

const adminKey = "bootstrap-key-that-nobody-may-read";

/** Every form in which a secret could be written down. */
const formsOf = (secret: string): Buffer[] => {
  const text = Buffer.from(secret);
  const random = secret.replace(/^whsec_/, "");
  const forms = [
    text,
    Buffer.from(random),
    Buffer.from(text.toString("base64")),
    Buffer.from(text.toString("hex")),
  ];
  if (random === secret) return forms;
  const bytes = Buffer.from(random, "base64");
  return [
    ...forms,
    bytes,
    Buffer.from(bytes.toString("hex")),
    Buffer.from(bytes.toString("base64url")),
  ];
};

const findIn = (
  place: string,
  content: Uint8Array,
  secrets: ReadonlyMap<string, string>,
): string[] =>
  [...secrets].flatMap(([name, secret]) =>
    formsOf(secret).some((form) => Buffer.from(content).includes(form))
      ? [`${place}: ${name}`]
      : [],
  );

const stop = async (server: RunningServer) => {
  server.kill("SIGTERM");
  const ended = await server.ended;
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
};

test("nothing that a server writes or answers shows a secret", async (t) => {
  const folder = newFolder();
  let isBad = false;
  const receiver = await startReceiver(() => ({ status: isBad ? 500 : 200, body: "ok" }));
  t.after(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const server = await serveHalyard(folder, {
    HALYARD_LOG_LEVEL: "trace",
    HALYARD_BOOTSTRAP_KEYS: `development=${adminKey}`,
  });
  const secrets = new Map([["the bootstrap key", adminKey]]);
  const answers: string[] = [];
  const admin: ReturnType<typeof createApi> = async (...call) => {
    const answer = await createApi(server.url, adminKey)(...call);
    answers.push(answer.text + JSON.stringify([...answer.headers]));
    return answer;
  };
  const keep = (name: string, answer: { body: unknown }, field: string): string => {
    // The one answer that may show it.
    answers.pop();
    const secret = (answer.body as Record<string, string>)[field] ?? "";
    assert.ok(secret.length > 20, name);
    secrets.set(name, secret);
    return secret;
  };

  const hook = await admin(
    "POST",
    "/webhooks",
    { url: receiver.url, events: ["*"] },
    { "idempotency-key": "1" },
  );
  const first = keep("the first webhook secret", hook, "secret");
  const { id } = hook.body as NewWebhook;
  const issued = await admin(
    "POST",
    "/keys",
    { name: "ci", role: "server" },
    { "idempotency-key": "2" },
  );
  const serverKey = keep("an issued key", issued, "key");
  await createFlag(admin);
  await logWhen(admin, id, 1, isDelivered);
  const rotated = await admin(
    "POST",
    `/webhooks/${id}/secret/rotate`,
    {},
    { "idempotency-key": "3" },
  );
  const second = keep("the rotated secret", rotated, "secret");
  isBad = true;
  await createFlag(admin);
  await logWhen(admin, id, 2, wasAttempted);
  await admin("POST", `/webhooks/${id}/test`);
  await admin("PATCH", `/webhooks/${id}`, { active: false });

  // A refusal never repeats what was sent in the wrong place.
  const odd: [string, string, unknown, Record<string, string>?][] = [
    ["POST", "/webhooks", { url: receiver.url, events: ["*"], secret: first }],
    ["POST", "/webhooks", { url: `https://u:${adminKey}@example.com/`, events: ["*"] }],
    ["POST", "/webhooks", { url: receiver.url, events: ["*"] }, { "x-api-key": serverKey }],
    ["POST", "/flags", `{"key": "${adminKey}`],
    ["POST", "/flags", { key: "k", type: "boolean" }, { "content-type": "text/plain" }],
    ["GET", "/flags", undefined, { authorization: `Basic ${adminKey}` }],
    ["GET", "/flags", undefined, { authorization: serverKey }],
    ["PATCH", `/webhooks/${id}`, { secret: second }],
    ["POST", `/webhooks/${id}/secret/rotate`, { immediately: "yes" }],
  ];
  for (const [method, path, body, headers] of odd) {
    const answer = await admin(method, path, body, headers);
    assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${path}: ${answer.status}`);
  }
  const raw = [
    `GET /api/v1/flags?api_key=${adminKey} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    `GET /${adminKey} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    `GET /api/v1/flags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${serverKey} ${adminKey}\r\nConnection: close\r\n\r\n`,
    `GET /api/v1/flags HTTP/1.1\r\nX-Api-Key: ${adminKey}\r\nno header at all ${adminKey}\r\n\r\n`,
    `${adminKey}\r\n\r\n`,
  ];
  for (const text of raw) answers.push((await exchange(server.url, text)).text);
  for (const path of [
    "/webhooks",
    `/webhooks/${id}`,
    `/webhooks/${id}/deliveries`,
    "/keys",
    "/flags",
  ]) {
    await admin("GET", path);
  }
  for (const path of ["//openapi.json", "//metrics", "//healthz", "//readyz"])
    await admin("GET", path);

  const { stdout, stderr } = await stop(server);
  assert.match(stdout, /"level":(10|20|30)/, "the log is talkative");
  const files = await readContents({ folder });
  assert.ok(files.has("halyard.db") || files.has("webhooks"));
  const found = [
    ...findIn("standard output", Buffer.from(stdout), secrets),
    ...findIn("standard error", Buffer.from(stderr), secrets),
    ...answers.flatMap((text) =>
      findIn(`an answer (${text.slice(0, 200)})`, Buffer.from(text), secrets),
    ),
    ...[...files].flatMap(([name, content]) => findIn(name, content, secrets)),
    ...receiver.received.flatMap(({ body, rawHeaders }) =>
      findIn("a delivery", Buffer.concat([body, Buffer.from(rawHeaders.join("\n"))]), secrets),
    ),
  ];
  assert.deepEqual(found, []);
  assert.ok(answers.length > 20);
});

test("a new HALYARD_SECRET_KEY before the old one goes on; without the old one the log says which webhook it needs it for", async (t) => {
  const folder = newFolder();
  const receiver = await startReceiver();
  t.after(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [old, fresh] = [randomBytes(32).toString("base64"), randomBytes(32).toString("hex")];
  const start = async (ring: string) => {
    const server = await serveHalyard(folder, {
      HALYARD_SECRET_KEY: ring,
      HALYARD_BOOTSTRAP_KEYS: `development=${adminKey}`,
      HALYARD_LOG_LEVEL: "warn",
    });
    return { server, admin: createApi(server.url, adminKey) };
  };

  const one = await start(old);
  const before = await register(one.admin, receiver.url.replace("hook", "before"));
  await stop(one.server);

  const two = await start(`${fresh},${old}`);
  const between = await register(two.admin, receiver.url.replace("hook", "between"));
  await createFlag(two.admin);
  for (const { id } of [before, between]) await logWhen(two.admin, id, 1, isDelivered);
  await stop(two.server);
  const earlier = createSecretCipher([Buffer.from(old, "base64")]);
  const [secret, address] = ["usr_1", "installation"].map((id) =>
    Buffer.from(earlier.seal("a", id)),
  );
  await writeRows(
    { folder },
    "insert into users (id, name, owner, created_at, rights_at, totp) values ('usr_1', 'Ann', 0, 1, 1, ?)",
    secret ?? "",
  );
  await writeRows(
    { folder },
    "insert into installation (id, address_key) values ('installation', ?)",
    address ?? "",
  );

  const three = await start(fresh);
  await createFlag(three.admin);
  await logWhen(three.admin, between.id, 2, isDelivered);
  const line = await three.server.printed(/^\{.*secret cannot be decrypted.*\}$/m);
  const entry = JSON.parse(line[0]) as { webhook: string; msg: string };
  assert.equal(entry.webhook, before.id);
  assert.match(entry.msg, /secret cannot be decrypted: its key is missing/);
  await three.server.printed(/"user":"usr_1".*second factor cannot be decrypted/);
  await three.server.printed(
    /the addresses of accounts cannot be compared: the secret key is missing/,
  );
  const waiting = await readLog(three.admin, before.id, "?state=pending");
  assert.deepEqual(
    waiting.map(({ attempts }) => attempts),
    [[]],
    "it waits",
  );
  // Nothing but what cannot be sent is kept from anybody.
  for (let change = 0; change < 3; change += 1) await createFlag(three.admin);
  await logWhen(three.admin, between.id, 5, isDelivered);
  const { stdout } = await stop(three.server);
  const said = stdout.match(/secret cannot be decrypted/g)?.length ?? 0;
  assert.ok(said <= 2, `said at the start and at the first delivery, not ${said} times`);

  const four = await start(`${fresh},${old}`);
  await logWhen(four.admin, before.id, 5, isDelivered);
  await until("all are received", () => receiver.received.length === 10);
  await stop(four.server);
});
