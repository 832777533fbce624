// halyard serve --workers: how all of its processes exit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { nobodyListens } from "./support/unfinished-request.ts";
import { isAlive, pidOf, requestsUnderWay, serve } from "./support/worker-processes.ts";

test("after SIGTERM, all workers complete earlier requests and exit with 0", async () => {
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

test("Ctrl+C, which reaches every process of the terminal, counts once", async () => {
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

// Less than the time after which a worker exits by itself.
test("a second signal ends all of them immediately, with 1", async () => {
  const server = await serve();
  const pids = [await pidOf(server, 1), await pidOf(server, 2)];
  const requests = await requestsUnderWay(server);
  server.kill("SIGTERM");
  await nobodyListens(server.url);
  // A signal that follows within half a second counts as the same one.
  const insisting = setInterval(() => server.kill("SIGTERM"), 100);
  assert.equal((await server.ended).code, 1);
  clearInterval(insisting);
  await until("the workers are gone", () => !pids.some(isAlive));
  for (const { socket } of requests) socket.destroy();
});

test("the primary is killed: nothing listens any more, earlier requests are completed, the workers exit", async () => {
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
