// A session of everything, with all that can be logged: every change has its line, every request too, and nothing is secret.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { createApi } from "./support/api.ts";
import { isDelivered, logWhen, type NewWebhook, register } from "./support/delivery-log.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { type RunningServer, runHalyard, serveHalyard } from "./support/halyard-process.ts";
import { type LogLine, logLines, logText } from "./support/log-lines.ts";
import { signInAs } from "./support/people.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { newFolder } from "./support/server.ts";
import { signInWith } from "./support/session.ts";
import { storeSettings } from "./support/test-store.ts";

const folder = newFolder();
const chosen = "chosen-by-the-operator-0123456789";
const other = "another-of-the-operator-0123456789";
const token = "scrape-me-0123456789-token";
/** All that must not be found in the log. */
const secrets = new Map<string, string>([
  ["the operator's key", chosen],
  ["the other key", other],
  ["the metrics token", token],
]);
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
let halyard: RunningServer;
let lines: LogLine[];
let text: string;
let session: Session;

interface Session {
  readonly webhook: string;
  readonly issued: string;
}

const runSession = async (): Promise<Session> => {
  const admin = createApi(halyard.url, chosen);
  const anonymous = createApi(halyard.url);
  const named = (id: string) => ({ "x-request-id": id });

  await admin("POST", "/flags", { key: "one", type: "rollout" }, named("create-1"));
  const change = { enabled: true, percentage: 5 };
  await admin("PATCH", "/flags/one?reason=An%20incident", change, named("patch-1"));
  await admin("PATCH", "/flags/one", { enabled: true }, named("patch-nothing"));
  await admin("PATCH", "/flags/one", { percentage: 500 }, named("patch-bad"));
  const once = { "idempotency-key": "k", ...named("create-2") };
  for (let turn = 0; turn < 2; turn += 1) {
    await admin("POST", "/flags", { key: "two", type: "boolean" }, once);
  }

  const receiver = await startReceiver();
  const hidden = `${receiver.url}/path-that-is-secret?token=query-that-is-secret`;
  secrets.set("a callback's path", "path-that-is-secret");
  secrets.set("a callback's query", "query-that-is-secret");
  const { id, secret } = await register(admin, hidden);
  secrets.set("the secret", secret.slice("whsec_".length));
  await admin("PATCH", `/webhooks/${id}`, { events: ["flag.created"] }, named("webhook-1"));
  const rotated = await admin("POST", `/webhooks/${id}/secret/rotate`, {}, named("rotate-1"));
  secrets.set("the new secret", (rotated.body as NewWebhook).secret.slice("whsec_".length));
  await admin("POST", `/webhooks/${id}/test`, undefined, named("test-1"));
  const [tested] = await logWhen(admin, id, 1, isDelivered);
  const again = `/webhooks/${id}/deliveries/${tested?.id}/replay`;
  await admin("POST", again, undefined, named("replay-1"));

  const made = await admin("POST", "/keys", { name: "ci", role: "server" }, named("key-1"));
  const { id: issued, key } = made.body as { id: string; key: string };
  secrets.set("an issued key", key.slice(`hal_${issued}_`.length));
  await createApi(halyard.url, key)("GET", "/flags");
  const bulk = await createApi(halyard.url, key)("POST", "//ofrep/v1/evaluate/flags", {
    context: { targetingKey: "person-that-is-secret" },
  });
  secrets.set("who is evaluated", "person-that-is-secret");
  const { eventStreams } = bulk.body as { eventStreams: [{ url: string }] };
  const { url: streamUrl } = eventStreams[0];
  secrets.set("a stream's token", new URL(streamUrl).searchParams.get("token") ?? "");
  const stream = await openStream(streamUrl);
  await stream.first(1);
  stream.close();
  await anonymous("GET", "//ofrep/v1/events?token=wrong-token-0123456789");
  secrets.set("a wrong token", "wrong-token-0123456789");

  const page = await signInWith({ anonymous }, [chosen]);
  secrets.set("a session", page.cookie.replace(/^[^=]*=/, ""));
  secrets.set("its token", page.csrf);
  const inPage = { ...page.headersFor("development"), ...named("page-1") };
  await anonymous("PATCH", "/flags/two", { enabled: true }, inPage);
  const [, link = ""] = await halyard.printed(/(http:\S+\/sign-in\?once=\S+)/);
  secrets.set("a sign-in link", new URL(link).searchParams.get("once") ?? "");
  await (await fetch(link, { redirect: "manual" })).text();
  await createApi(halyard.url, key)("GET", "/keys", undefined, named("denied-1"));
  const foreign = { ...inPage, origin: "https://elsewhere.example", ...named("denied-2") };
  await anonymous("DELETE", "//session", undefined, foreign);
  await anonymous("DELETE", "//session", undefined, { ...inPage, ...named("out-1") });

  const person = await signInAs(
    { url: halyard.url, folder },
    { name: "Ada", email: "ada-is-a-secret-address@example.com", owner: true },
  );
  secrets.set("a person's session", person.cookie.slice(-43));
  secrets.set("a person's address", "ada-is-a-secret-address");
  const ada = person.in("development");
  await ada("PATCH", "/flags/two", { enabled: false }, named("ada-1"));
  const own = { name: "laptop", role: "admin", expiresAt: inAnHour() };
  const laptop = (await ada("POST", "/personal-keys", own, named("ada-2"))).body as { key: string };
  secrets.set("a personal key", laptop.key.slice(-43));
  const onLaptop = createApi(halyard.url, laptop.key);
  await onLaptop("PATCH", "/flags/two", { enabled: true }, named("ada-3"));
  await onLaptop("GET", "/users", undefined, named("ada-4"));
  const invited = (await ada("POST", "/users", { name: "Bea" }, named("ada-5"))).body;
  const guest = invited as { id: string; invitation: { url: string } };
  secrets.set("an invitation", guest.invitation.url.slice(-43));
  const bea = `/users/${guest.id}`;
  await ada("PATCH", bea, { roles: { development: "viewer" } }, named("ada-6"));
  await ada("DELETE", bea, undefined, named("ada-7"));

  await admin("DELETE", `/keys/${issued}`, undefined, named("revoke-1"));
  assert.equal((await createApi(halyard.url, key)("GET", "/flags")).status, 401);
  await anonymous("GET", "/flags?key=key-in-a-query-0123456789");
  secrets.set("a key in a query", "key-in-a-query-0123456789");
  await createApi(halyard.url, "wrong-key-0123456789")("GET", "/flags");
  secrets.set("a wrong key", "wrong-key-0123456789");
  await (await fetch(`${halyard.url}/metrics`, { headers: bearer(token) })).text();
  await admin("DELETE", `/webhooks/${id}`, undefined, named("webhook-2"));
  await admin("DELETE", "/flags/one", undefined, named("delete-1"));
  await receiver.close();
  const removed = await runHalyard(
    ["environments", "delete", "production", "--yes"],
    await storeSettings(folder),
  );
  assert.equal(removed.code, 0, removed.stderr);
  await halyard.printed(/"audit":"environment\.deleted"/);
  return { webhook: id, issued };
};

before(async () => {
  halyard = await serveHalyard(folder, {
    HALYARD_BOOTSTRAP_KEYS: `development=${chosen},production=${other}`,
    HALYARD_METRICS_TOKEN: token,
    HALYARD_ACCESS_LOG: "on",
    HALYARD_LOG_LEVEL: "trace",
  });
  session = await runSession();
  halyard.kill("SIGTERM");
  const { stdout, stderr } = await halyard.ended;
  assert.equal(stderr, "");
  lines = logLines(stdout);
  text = logText(stdout);
});
after(async () => {
  halyard.kill("SIGKILL");
  await halyard.ended;
  rmSync(folder, { recursive: true, force: true });
});

const isByPerson = ({ reqId }: LogLine): boolean => String(reqId).startsWith("ada-");

test("what a person does has lines with their id and name, and no address", () => {
  const own = lines.filter((line) => line.audit !== undefined && isByPerson(line));
  assert.deepEqual(
    own.map(({ reqId, audit, environment, keyName, userName }) =>
      [reqId, audit, environment, keyName, userName].join(" "),
    ),
    [
      "ada-1 flag.disabled development  Ada",
      "ada-2 key.created development  Ada",
      "ada-3 flag.enabled development laptop Ada",
      "ada-4 access.denied development laptop Ada",
      "ada-5 user.created   Ada",
      "ada-5 user.invited   Ada",
      "ada-6 user.added development  Ada",
      "ada-7 user.removed development  Ada",
      "ada-7 user.deleted   Ada",
    ],
  );
  assert.ok(own.every(({ userId }) => /^usr_[0-9a-f]{16}$/.test(String(userId))));
});

test("every change has one line: who, where, what, and the request that asked for it", () => {
  const audited = lines.filter(
    (line) => line.msg === "changed" && line.reqId !== undefined && !isByPerson(line),
  );
  assert.deepEqual(
    audited.map(({ reqId, audit, id }) => `${reqId}: ${audit} ${id}`),
    [
      "create-1: flag.created one",
      "patch-1: flag.enabled flag.updated one",
      "create-2: flag.created two",
      `${audited[3]?.reqId}: webhook.created ${session.webhook}`,
      `webhook-1: webhook.updated ${session.webhook}`,
      `rotate-1: webhook.secret_rotated ${session.webhook}`,
      `test-1: webhook.tested ${session.webhook}`,
      `replay-1: webhook.replayed ${session.webhook}`,
      `key-1: key.created ${session.issued}`,
      "page-1: flag.enabled two",
      `revoke-1: key.revoked ${session.issued}`,
      `webhook-2: webhook.deleted ${session.webhook}`,
      "delete-1: flag.deleted one",
    ],
  );
  for (const line of audited) {
    assert.equal(line.environment, "development");
    assert.match(String(line.keyId), /^[0-9a-f]{16}$/);
    assert.equal(line.keyName, "bootstrap");
    assert.equal(line.address, "127.0.0.1");
    assert.equal(line.level, 30);
  }
  const [created, patched] = audited;
  assert.deepEqual([created?.reason, patched?.reason], [undefined, "An incident"]);
  assert.deepEqual([patched?.subject, patched?.version, patched?.sequence], ["flag", 2, 3]);
});

test("who signs in has a line, with a key and with a link", () => {
  const began = lines.filter(({ audit }) => audit === "session.began");
  assert.equal(began.length, 2);
  for (const { address, reqId } of began) {
    assert.equal(address, "127.0.0.1");
    assert.ok(reqId);
  }
  assert.deepEqual(
    began.map(({ keyIds }) => keyIds?.length),
    [1, 2],
  );
});

test("who signs out has a line", () => {
  const [line, ...others] = lines.filter(({ audit }) => audit === "session.ended");
  assert.deepEqual(others, []);
  assert.deepEqual([line?.reqId, line?.keyIds?.length, line?.address], ["out-1", 1, "127.0.0.1"]);
});

test("what is denied has a line, with the key when there was one", () => {
  const denied = lines.filter((line) => line.audit === "access.denied" && !isByPerson(line));
  assert.deepEqual(
    denied.map(({ reqId, method, route, keyId, keyName, environment, address }) => [
      reqId,
      `${method} ${route}`,
      keyId,
      keyName,
      environment,
      address,
    ]),
    [
      ["denied-1", "GET /api/v1/keys", session.issued, "ci", "development", "127.0.0.1"],
      ["denied-2", "DELETE /session", undefined, undefined, undefined, "127.0.0.1"],
    ],
  );
});

test("the first keys have theirs, by the operator, and so has an environment that the operator deletes", () => {
  const first = lines.filter(({ audit, reqId }) => audit !== undefined && reqId === undefined);
  assert.deepEqual(
    first.map(({ audit, environment, keyName }) => `${audit} ${environment} ${keyName}`).sort(),
    [
      "environment.created development operator",
      "environment.created production operator",
      "environment.deleted production operator",
      "key.created development operator",
      "key.created production operator",
    ],
  );
});

test("with the access log every request has its line", () => {
  const requests = lines.filter(({ msg }) => msg === "request");
  const shown = requests.map(({ method, route, status }) => `${method} ${route} ${status}`);
  for (const wanted of [
    "POST /api/v1/flags 201",
    "PATCH /api/v1/flags/:key 400",
    "GET /api/v1/flags 200",
    "GET /api/v1/flags 401",
    "POST /ofrep/v1/evaluate/flags 200",
    "GET /ofrep/v1/events 200",
    "GET /ofrep/v1/events 401",
    "GET /sign-in 303",
    "GET /metrics 200",
  ]) {
    assert.ok(shown.includes(wanted), wanted);
  }
  for (const line of requests) {
    assert.ok(typeof line.reqId === "string" && typeof line.milliseconds === "number");
    assert.ok(!String(line.path).includes("?"), String(line.path));
    assert.equal(line.address, "127.0.0.1");
  }
  const patched = requests.find(({ reqId }) => reqId === "patch-1");
  assert.equal(patched?.keyName, "bootstrap");
  assert.equal(patched?.path, "/api/v1/flags/one");
});

test("no key, no secret, no token and no address of a callback is anywhere in it", () => {
  assert.ok(text.length > 5_000);
  for (const [what, secret] of secrets) {
    assert.ok(secret.length > 15, what);
    const line = text.split("\n").find((each) => each.includes(secret));
    assert.equal(line, undefined, what);
  }
});
