// halyard serve --workers: how all of its processes end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { nobodyListens } from "./support/unfinished-request.ts";
import { isAlive, pidOf, requestsUnderWay, serve } from "./support/worker-processes.ts";

test("SIGTERM answers what any of them was asked before it, and ends with 0", async () => {
  const server = await serve();
  const requests = await requestsUnderWay(server);
  server.kill("SIGTERM");
  await nobodyListens(server.url);
  for (const request of requests) request.finish();
  const { code, stderr } = await server.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  for (const request of requests) assert.match(request.answer(), /^HTTP\/1\.1 201 /);
  for (const { socket } of requests) socket.destroy();
});

test("Ctrl+C, which reaches every process of the terminal, is one wish", async () => {
  const server = await serve();
  const pids = [await pidOf(server, 1), await pidOf(server, 2)];
  const requests = await requestsUnderWay(server);
  for (const pid of [...pids, server.pid, ...pids]) process.kill(pid, "SIGINT");
  await nobodyListens(server.url);
  for (const request of requests) request.finish();
  const { code, stderr, stdout } = await server.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.doesNotMatch(stdout, /a worker ended/);
  for (const request of requests) assert.match(request.answer(), /^HTTP\/1\.1 201 /);
  for (const { socket } of requests) socket.destroy();
});

// Less than the time after which a worker gives up by itself.
test("a second signal ends all of them at once, with 1", async () => {
  const server = await serve();
  const pids = [await pidOf(server, 1), await pidOf(server, 2)];
  const requests = await requestsUnderWay(server);
  server.kill("SIGTERM");
  await nobodyListens(server.url);
  // One that follows within half a second is the same wish come by another way.
  const insisting = setInterval(() => server.kill("SIGTERM"), 100);
  assert.equal((await server.ended).code, 1);
  clearInterval(insisting);
  await until("the workers are gone", () => !pids.some(isAlive));
  for (const { socket } of requests) socket.destroy();
});

test("the primary is killed: nobody listens, what was asked is answered, the workers end", async () => {
  const server = await serve();
  const pids = [await pidOf(server, 1), await pidOf(server, 2)];
  const requests = await requestsUnderWay(server);
  server.kill("SIGKILL");
  await nobodyListens(server.url);
  for (const request of requests) request.finish();
  await until("the workers are gone", () => !pids.some(isAlive));
  for (const request of requests) assert.match(request.answer(), /^HTTP\/1\.1 201 /);
  for (const { socket } of requests) socket.destroy();
});
