// halyard serve as a process: how it exits.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, test } from "node:test";
import { type HalyardProcess, serveHalyard } from "../../server/test/support/halyard-process.ts";
import { folderOf } from "./support/folders.ts";
import { beginRequest, nobodyListens } from "./support/unfinished-request.ts";

const started: HalyardProcess[] = [];
after(() => {
  // Left by a failed test. The others have exited.
  for (const halyard of started) halyard.kill("SIGKILL");
});

test("after SIGTERM, it completes earlier requests and exits with 0", async () => {
  const folder = folderOf();
  const server = await serveHalyard(folder);
  started.push(server);
  const key = server.keys.development ?? "";
  const idle = connect(Number(new URL(server.url).port), "127.0.0.1");
  await once(idle, "connect");
  const request = await beginRequest(server.url, key);
  server.kill("SIGTERM");
  await nobodyListens(server.url);
  request.finish();
  // The server exits although the client keeps both connections open.
  const { code, stderr } = await server.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.match(request.answer(), /^HTTP\/1\.1 201 [\s\S]*"key":"late"/);
  for (const open of [request.socket, idle]) open.destroy();

  const again = await serveHalyard(folder);
  const response = await fetch(`${again.url}/api/v1/flags/late`, {
    headers: { authorization: `Bearer ${key}`, connection: "close" },
  });
  assert.equal(response.status, 200);
  again.kill("SIGTERM");
  assert.equal((await again.ended).code, 0);
});

test("a second signal exits immediately, with 1", async () => {
  const server = await serveHalyard(folderOf());
  const { socket } = await beginRequest(server.url, server.keys.development ?? "");
  server.kill("SIGINT");
  await nobodyListens(server.url);
  // A signal that follows within half a second counts as the same one.
  const insisting = setInterval(() => server.kill("SIGINT"), 100);
  assert.equal((await server.ended).code, 1);
  clearInterval(insisting);
  socket.destroy();
});

test("the same signal twice counts once: running requests are completed", async () => {
  const server = await serveHalyard(folderOf());
  server.kill("SIGTERM");
  server.kill("SIGINT");
  assert.equal((await server.ended).code, 0);
});
