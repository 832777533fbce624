// flagd.sync.v1.FlagSyncService: who may follow, what they get, and how it ends.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { credentials, status } from "@grpc/grpc-js";
import { FlagdProvider } from "@openfeature/flagd-provider";
import { decodeRequest, encodeDefinition } from "../src/evaluation/flagd/grpc/messages.ts";
import { openPaused, openSync } from "./support/flagd-sync.ts";
import { changeFlag, makeFlag } from "./support/ofrep.ts";
import { scrape } from "./support/scrape.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const on = { HALYARD_FLAGD_PORT: "0" };

/** The provider as it is published. It can send its key as a selector alone. */
const provider = (
  address: string,
  key: string,
  more: ConstructorParameters<typeof FlagdProvider>[0] = {},
) => {
  const { hostname: host, port } = new URL(`http://${address}`);
  return new FlagdProvider({
    ...{ resolverType: "in-process", host, port: Number(port), selector: key },
    ...{ deadlineMs: 60_000, retryBackoffMaxMs: 20, ...more },
  });
};
const isOn = async (flagd: FlagdProvider): Promise<boolean> =>
  (await flagd.resolveBooleanEvaluation("a", false, {}, console)).value;

test("the provider of JavaScript gets a change, also after a restart of Halyard", async (t) => {
  const folder = newFolder();
  let server = await startTestServer({ ...on, HALYARD_DATA: folder });
  let flagd: FlagdProvider | undefined;
  t.after(async () => {
    // First: a provider that is closed while it connects again tries for ever, and the process never ends.
    await flagd?.onClose();
    await server.close();
  });
  const { flagd: address } = server;
  const { keys } = await server.environment();
  const change = (patch: object) => changeFlag(server.api(keys.admin), "a", patch);
  await makeFlag(server.api(keys.admin), { key: "a", type: "boolean" });

  const follower = provider(address, keys.server);
  flagd = follower;
  await follower.initialize();
  assert.equal(await isOn(follower), false);
  await change({ enabled: true });
  await until("the change", () => isOn(follower));
  const { flagMetadata } = await follower.resolveBooleanEvaluation("a", false, {}, console);
  assert.ok(!JSON.stringify(flagMetadata).includes(keys.server), "a key is nothing to tell others");

  await server.close();
  const [, port = ""] = address.split(":");
  server = await startTestServer({ HALYARD_DATA: folder, HALYARD_FLAGD_PORT: port });
  await change({ enabled: false });
  await until("the change after the restart", async () => !(await isOn(follower)));
});

test("a key comes as metadata, as provider_id or as selector, and must be one that reads flags", async (t) => {
  const server = await startTestServer(on);
  t.after(() => server.close());
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "a", type: "boolean", enabled: true });
  const client = openSync(server.flagd);
  t.after(() => client.close());

  const { text } = await server.api(keys.server)("GET", "//flagd/v1/flags.json");
  for (const asked of [
    { authorization: `Bearer ${keys.server}` },
    { authorization: keys.server },
    { providerId: keys.server },
    { selector: keys.server },
    { authorization: `bearer ${keys.server}`, providerId: "my-service", selector: "mine" },
  ]) {
    assert.equal(await client.fetchAll(asked), text);
    const followed = client.follow(asked);
    await followed.first(1);
    assert.deepEqual(followed.received, [JSON.parse(text).flags]);
    followed.stream.cancel();
  }
  for (const [asked, code] of [
    [{}, status.UNAUTHENTICATED],
    [{ providerId: "nobody-0123456789abcdef" }, status.UNAUTHENTICATED],
    [{ authorization: "Bearer ", selector: "mine" }, status.UNAUTHENTICATED],
    [{ providerId: keys.client }, status.PERMISSION_DENIED],
  ] as const) {
    assert.equal(await client.fetchAll(asked), code);
    assert.equal(await client.follow(asked).ended, code);
  }
  assert.equal(await client.metadata(), status.UNIMPLEMENTED);
  const stranger = provider(server.flagd, "nobody-0123456789abcdef", {
    fatalStatusCodes: ["UNAUTHENTICATED"],
  });
  await assert.rejects(stranger.initialize(), /not valid/);
  await stranger.onClose();
});

test("keys that fail count together with those of HTTP, and a good one is not locked out", async (t) => {
  const server = await startTestServer({ ...on, HALYARD_AUTH_FAILURE_LIMIT: "2" });
  t.after(() => server.close());
  const { keys } = await server.environment();
  const client = openSync(server.flagd);
  t.after(() => client.close());
  const providerId = "nobody-0123456789abcdef";
  assert.equal(await client.fetchAll({ providerId }), status.UNAUTHENTICATED);
  assert.equal((await server.api(providerId)("GET", "/flags")).status, 401);
  assert.equal(await client.fetchAll({ providerId }), status.RESOURCE_EXHAUSTED);
  assert.equal((await server.api(providerId)("GET", "/flags")).status, 429);
  assert.equal(typeof (await client.fetchAll({ providerId: keys.server })), "string");
});

test("places are counted together with those of event streams, and metrics tell them apart", async (t) => {
  const server = await startTestServer(on, { streams: { maxStreamsPerKey: 2 } });
  t.after(() => server.close());
  const { keys } = await server.environment();
  const client = openSync(server.flagd);
  t.after(() => client.close());
  const asked = { providerId: keys.server };
  const open = async () =>
    (await scrape(server.url)).value("halyard_streams_open", { kind: "flagd" });
  const one = client.follow(asked);
  const two = client.follow(asked);
  for (const each of [one, two]) await each.first(1);
  assert.equal(await open(), 2);
  assert.equal(await client.follow(asked).ended, status.RESOURCE_EXHAUSTED);
  assert.equal((await server.api(keys.server)("GET", "/stream")).status, 429);
  one.stream.cancel();
  await until("a free place", async () => (await open()) === 1);
  const three = client.follow(asked);
  await three.first(1);
});

test("a revoked key's calls end, another's go on, and changes in quick succession come as one", async (t) => {
  const server = await startTestServer(on);
  t.after(() => server.close());
  const { admin, keys } = await server.environment();
  const flags = ["a", "b", "c", "d", "e"];
  for (const key of flags) await makeFlag(admin, { key, type: "boolean" });
  const made = await admin("POST", "/keys", { name: "short-lived", role: "server" });
  const { id, key } = made.body as { id: string; key: string };
  const client = openSync(server.flagd);
  t.after(() => client.close());
  const doomed = client.follow({ providerId: key });
  const other = client.follow({ providerId: keys.server });
  for (const each of [doomed, other]) await each.first(1);
  await admin("DELETE", `/keys/${id}`);
  assert.equal(await doomed.ended, status.UNAUTHENTICATED);

  const patches = flags.map((flag) => ({ flag, patch: { enabled: true } }));
  assert.equal((await admin("POST", "/changes", { changes: patches })).status, 200);
  await makeFlag(admin, { key: "last", type: "boolean" });
  await until("the last change", () => other.received.at(-1)?.last);
  assert.ok(other.received.length <= 3, `${other.received.length} definitions`);
});

test("one who does not read gets the newest definition when it reads again, and keeps no server from stopping", async () => {
  const server = await startTestServer(on);
  const { admin, keys } = await server.environment();
  const variants = { one: "1".repeat(50_000), two: "2".repeat(50_000), off: "" };
  const long = {
    key: "long",
    type: "variant",
    valueType: "string",
    variants,
    off: "off",
    otherwise: "one",
  };
  const created = await admin("POST", "/flags", long);
  assert.equal(created.status, 201, created.text);
  const client = openSync(server.flagd);
  const reading = client.follow({ providerId: keys.server });
  const paused = [openPaused(server.flagd, keys.server), openPaused(server.flagd, keys.server)];
  await reading.first(1);
  await Promise.all(paused.map(({ begun }) => begun));
  for (let turn = 1; turn <= 4; turn += 1) {
    await changeFlag(admin, "long", { enabled: turn % 2 === 1 });
    await reading.first(turn + 1);
  }
  await makeFlag(admin, { key: "last", type: "boolean" });
  await until("the last change", () => reading.received.at(-1)?.last);
  const received = await paused[0]?.read(2);
  assert.deepEqual(
    received?.map((flags) => "last" in flags),
    [false, true],
  );
  await server.close();
  assert.equal(await reading.ended, status.UNAVAILABLE);
  for (const { close } of [...paused, client]) close();
});

test("with a certificate the connection is encrypted", async (t) => {
  const folder = newFolder();
  const [certificate, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ],
    { stdio: "ignore" },
  );
  const tls = { HALYARD_FLAGD_TLS_CERT: certificate, HALYARD_FLAGD_TLS_KEY: key };
  const server = await startTestServer({ ...on, ...tls });
  t.after(() => server.close());
  const { keys } = await server.environment();
  const address = server.flagd.replace("127.0.0.1", "localhost");
  const client = openSync(address, credentials.createSsl(readFileSync(certificate)));
  t.after(() => client.close());
  const followed = client.follow({ providerId: keys.server });
  await followed.first(1);
  followed.stream.cancel();
  await assert.rejects(
    startTestServer({ ...on, ...tls, HALYARD_FLAGD_TLS_KEY: certificate }),
    /HALYARD_FLAGD_TLS_CERT/,
  );
  await assert.rejects(
    startTestServer({ ...on, ...tls, HALYARD_FLAGD_TLS_KEY: join(folder, "none") }),
    /HALYARD_FLAGD_TLS_KEY: .* cannot be read/,
  );
});

test("requests are read field by field, and what is none is refused", () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  assert.deepEqual(decodeRequest(bytes()), { providerId: "", selector: "" });
  const known = [0x0a, 2, 0x61, 0xc3, 0x12, 1, 0x62];
  // An unknown number, fixed 64 and 32 bits, and an unknown text are passed over.
  const unknown = [0x18, 0x96, 0x01, 0x21, ...Array(8).fill(1), 0x2d, 1, 1, 1, 1, 0x32, 1, 0x7a];
  assert.equal(decodeRequest(bytes(...unknown, ...known)).selector, "b");
  for (const broken of [[0x0a], [0x0a, 5, 1], [0x0b], [0x02, 0], [0x0a, ...Array(11).fill(0xff)]]) {
    assert.throws(() => decodeRequest(bytes(...broken)), /flagd\.sync\.v1/);
  }
  for (const length of [0, 127, 128, 16_383, 16_384, 3_000_000]) {
    const text = "x".repeat(length);
    const { providerId } = decodeRequest(encodeDefinition(Buffer.from(text)));
    assert.equal(providerId, text);
  }
});
