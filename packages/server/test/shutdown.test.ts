// A server that is told to stop, whatever hangs: unready first, then drained, and gone in time with 0.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { createConnection } from "./load/connection.ts";
import { readRows } from "./support/database.ts";
import { type RunningServer, runHalyard, serveHalyard } from "./support/halyard-process.ts";
import { newFolder } from "./support/server.ts";
import { until } from "./support/until.ts";

const key = "a-key-of-20-characters";
const folders: string[] = [];
const started: RunningServer[] = [];
after(() => {
  // Those that a failed test has left behind; the others are gone.
  for (const server of started) server.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const serve = async (
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer & { readonly folder: string }> => {
  const folder = newFolder();
  folders.push(folder);
  const server = await serveHalyard(folder, {
    HALYARD_BOOTSTRAP_KEYS: `test=${key}`,
    HALYARD_MAX_LAG: "0",
    ...settings,
  });
  started.push(server);
  return { ...server, folder };
};

const post = (server: RunningServer, path: string, body: object): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const open = async (server: RunningServer, text: string): Promise<Socket> => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "connect");
  return socket;
};

test("a stuck request, an open stream and a hanging receiver do not keep it from ending", async (t) => {
  const server = await serve();
  let reached = 0;
  const receiver = createServer(() => {
    reached += 1;
  }).listen(0, "127.0.0.1");
  t.after(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  await once(receiver, "listening");
  const address = receiver.address();
  assert.ok(address && typeof address === "object");
  const url = `http://127.0.0.1:${address.port}/`;
  assert.equal((await post(server, "/webhooks", { url, events: ["*"] })).status, 201);
  assert.equal((await post(server, "/flags", { key: "a", type: "boolean" })).status, 201);
  await until("an attempt that hangs", () => reached > 0);

  const stream = await open(
    server,
    `GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`,
  );
  await once(stream, "data");
  const stuck = await open(
    server,
    `POST /api/v1/flags HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n`,
  );
  await once(stuck, "data");
  const silent = await open(server, "");

  server.kill("SIGTERM");
  stream.resume();
  await once(stream, "close");
  const { code, signal, stdout } = await server.ended;
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  // By the limits of its parts: the second line would tell that these took longer than the whole may.
  assert.match(stdout, /requests that did not end were cut off/);
  assert.doesNotMatch(stdout, /not everything stopped in time/);
  const [queue] = await readRows(
    server,
    "select count(*) as held from delivery_queues where lease_id is not null",
  );
  assert.equal(Number(queue?.held), 0, "other instances can send immediately what it could not");
  for (const socket of [stuck, silent]) socket.destroy();
});

test("a start that fails says so at once, whatever the delay", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const PORT = String(typeof address === "object" ? address?.port : "");
  const settings = { PORT, HALYARD_DATA: newFolder(), HALYARD_SHUTDOWN_DELAY: "60" };
  folders.push(settings.HALYARD_DATA);
  const { code, stderr } = await runHalyard(["serve"], settings);
  taken.close();
  assert.equal(code, 1);
  assert.match(stderr, /is already in use/);
});

test("with a delay it is unready at once and serves on, until balancers have noticed", async () => {
  const server = await serve({ HALYARD_SHUTDOWN_DELAY: "2" });
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  const connection = createConnection(server.url);
  server.kill("SIGTERM");
  const unready = await until("it to be unready", async () => {
    const answered = await connection.ask({ method: "GET", path: "/readyz" });
    return answered !== "cut" && answered.status === 503 && answered;
  });
  assert.match(unready.text, /The server is about to stop/);
  assert.match(unready.head, /\r\nretry-after: 1\r\n/i);
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
  const made = await post(server, "/flags", { key: "late", type: "boolean" });
  assert.equal(made.status, 201, "it takes new connections, and changes");
  const { code, stdout } = await server.ended;
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /cut off/);
});
