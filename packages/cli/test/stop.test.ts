// halyard serve as a process: how it ends.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, test } from "node:test";
import { type HalyardProcess, serveHalyard } from "../../server/test/support/halyard-process.ts";
import { folderOf } from "./support/folders.ts";
import { beginRequest, nobodyListens } from "./support/unfinished-request.ts";

const started: HalyardProcess[] = [];
after(() => {
  // Those that a failed test has left behind; the others are gone.
  for (const halyard of started) halyard.kill("SIGKILL");
});

test("SIGTERM answers what was asked before it, and ends with 0", async () => {
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
  // The server ends although this side keeps both connections open.
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

test("a second signal ends at once, with 1", async () => {
  const server = await serveHalyard(folderOf());
  const { socket } = await beginRequest(server.url, server.keys.development ?? "");
  server.kill("SIGINT");
  await nobodyListens(server.url);
  // One that follows within half a second is the same wish come by another way.
  const insisting = setInterval(() => server.kill("SIGINT"), 100);
  assert.equal((await server.ended).code, 1);
  clearInterval(insisting);
  socket.destroy();
});

test("the same signal by two ways is one: what is under way is answered", async () => {
  const server = await serveHalyard(folderOf());
  server.kill("SIGTERM");
  server.kill("SIGINT");
  assert.equal((await server.ended).code, 0);
});
