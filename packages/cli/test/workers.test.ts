// halyard serve --workers: several processes on one port, which are replaced if they die.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { suite, test } from "node:test";
import { replacementPause } from "../../server/src/process/cluster.ts";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import { until } from "../../server/test/support/until.ts";
import { folderOf } from "./support/folders.ts";
import {
  answering,
  ask,
  isAlive,
  pidOf,
  requestsUnderWay,
  serve,
} from "./support/worker-processes.ts";

test("the processes share one port, one database and one set of keys", async () => {
  const folder = folderOf();
  const server = await serve(folder, "3");
  assert.deepEqual(Object.keys(server.keys), ["development", "production"]);
  const pids = await Promise.all([1, 2, 3].map((worker) => pidOf(server, worker)));
  assert.equal(new Set([...pids, server.pid]).size, 4);
  assert.equal((await answering(server, 3)).size, 3);
  // A change by one process is visible to all.
  for (let count = 1; count <= 9; count += 1) {
    assert.equal((await ask(server, "/api/v1/flags", `flag-${count}`)).status, 201);
    assert.equal(((await ask(server, "/api/v1/flags")).body as unknown[]).length, count);
  }
  server.kill("SIGTERM");
  const { code, stdout, stderr } = await server.ended;
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.equal(stdout.match(/Halyard is up/g)?.length, 1);
  assert.equal(stdout.match(/^ {2}(development|production) +hal_/gm)?.length, 2);
  assert.ok(!pids.some(isAlive));
  // Every log line of a worker contains its number.
  for (const line of stdout.split("\n").filter((each) => each.includes("Server listening"))) {
    const { worker, pid } = JSON.parse(line) as { worker: number; pid: number };
    assert.equal(pid, pids[worker - 1]);
  }

  const again = await serve(folder);
  assert.deepEqual(again.keys, {});
  again.kill("SIGTERM");
  assert.equal((await again.ended).code, 0);
});

test("killed workers are replaced; requests continue, none waits forever, none is lost", async () => {
  const server = await serve();
  const before = await answering(server, 2);
  const made: string[] = [];
  const broken: string[] = [];
  let writing = true;
  let count = 0;
  const write = async (): Promise<void> => {
    while (writing) {
      count += 1;
      const flag = `flag-${count}`;
      try {
        assert.equal((await ask(server, "/api/v1/flags", flag)).status, 201);
        made.push(flag);
      } catch (error) {
        // The worker was killed while it had the request. A timeout would be an error.
        assert.equal((error as Error).message, "fetch failed");
        broken.push(flag);
      }
    }
  };
  const writers = Promise.all(Array.from({ length: 6 }, write));
  for (const worker of [1, 2]) {
    const enough = made.length + 15;
    process.kill(await pidOf(server, worker), "SIGKILL");
    await pidOf(server, worker + 2);
    await until("writing goes on", () => made.length > enough);
  }
  writing = false;
  await writers;
  const now = await answering(server, 2);
  assert.ok(now.isDisjointFrom(before));
  assert.ok(broken.length < made.length, `${broken.length} broken, ${made.length} made`);
  const { body } = await ask(server, "/api/v1/flags");
  const present = new Set((body as { key: string }[]).map(({ key }) => key));
  assert.deepEqual(
    made.filter((flag) => !present.has(flag)),
    [],
  );

  // All killed at the same time: the same port responds again.
  for (const pid of [await pidOf(server, 3), await pidOf(server, 4)]) process.kill(pid, "SIGKILL");
  await until("it answers", () => ask(server, "/healthz").catch(() => undefined));
  await answering(server, 2);
  server.kill("SIGTERM");
  assert.equal((await server.ended).code, 0);
});

test("SIGTERM to one worker: it completes its requests, and another takes its place", async () => {
  const server = await serve();
  const requests = await requestsUnderWay(server);
  const pid = await pidOf(server, 1);
  process.kill(pid, "SIGTERM");
  const replaced = pidOf(server, 3);
  await until("the other one alone answers", async () => {
    // A connection that it accepted just before is still idle, and is closed: its client would retry.
    const requests = Array.from({ length: 4 }, () =>
      ask(server, "/healthz").catch(() => undefined),
    );
    const tags = (await Promise.all(requests)).map((answer) => answer?.answeredBy);
    return tags[0] !== undefined && new Set(tags).size === 1;
  });
  assert.ok(isAlive(pid), "the request is not complete yet");
  for (const request of requests) request.finish();
  await until("both are answered", () => requests.every((request) => request.answer() !== ""));
  for (const request of requests) assert.match(request.answer(), /^HTTP\/1\.1 201 /);
  await replaced;
  assert.ok(!isAlive(pid));
  for (const { socket } of requests) socket.destroy();
  server.kill("SIGTERM");
  assert.equal((await server.ended).code, 0);
});

suite("failed starts", () => {
  test("a port in use is reported once, and no keys are created", async () => {
    const folder = folderOf();
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    const { code, stdout, stderr } = await runHalyard(
      ["serve", "--workers", "2", "--data", folder],
      { PORT: String(port) },
    );
    holder.close();
    assert.equal(code, 1, stdout);
    assert.match(
      stderr,
      new RegExp(`^halyard: Port ${port} on 127\\.0\\.0\\.1 is already in use: .* PORT\\.\\n$`),
    );
    assert.doesNotMatch(stdout, /Halyard is up|hal_/);
    const server = await serve(folder);
    assert.deepEqual(Object.keys(server.keys), ["development", "production"]);

    // Another Halyard with workers doesn't share the port.
    const taken = new URL(server.url).port;
    const other = await runHalyard(["serve", "--workers", "2", "--data", folderOf()], {
      PORT: taken,
    });
    assert.equal(other.code, 1, other.stdout);
    assert.match(
      other.stderr,
      new RegExp(`^halyard: Port ${taken} on 127\\.0\\.0\\.1 is already in use: `),
    );
    server.kill("SIGTERM");
    assert.equal((await server.ended).code, 0);
  });

  test("a wrong number of workers", async () => {
    const { code, stderr } = await runHalyard(["serve", "--workers=65"], { PORT: "0" });
    assert.equal(code, 2);
    assert.equal(
      stderr,
      "halyard: A setting is wrong: HALYARD_WORKERS must be a whole number from 1 to 64, or auto.\n",
    );
  });
});

test("a worker that keeps dying is replaced after longer and longer pauses", () => {
  const pauses = Array.from({ length: 12 }, (_, youngDeaths) => replacementPause(youngDeaths));
  assert.deepEqual(
    pauses,
    [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  );
});
