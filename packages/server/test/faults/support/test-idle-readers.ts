// Clients that ask for much and read nothing: they hold little memory, not for long, and nobody else notices them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { serveWithOptions } from "../../support/halyard-process.ts";
import { newFolder } from "../../support/server.ts";
import { until } from "./until.ts";

export const testIdleReaders = ({
  connections,
  waves,
  sendTimeout,
  within,
}: {
  readonly connections: number;
  readonly waves: readonly number[];
  /** Milliseconds. */
  readonly sendTimeout: number;
  readonly within: number;
}): void => {
  const key = "idle-reader-key-0123456789";
  /** Each so often that it is more than the buffers of the system take. */
  const asked = [
    ["/docs/static/swagger-ui-bundle.js", 12],
    ["/docs/yaml", 32],
  ] as const;

  /** Mebibytes of a process; undefined where the system does not tell. */
  const memoryOf = (pid: number): number | undefined => {
    const file = `/proc/${pid}/statm`;
    if (!existsSync(file)) return undefined;
    return (Number(readFileSync(file, "utf8").split(" ")[1]) * 4_096) / 2 ** 20;
  };

  /** Asks several times at once, and reads nothing of what comes back. */
  const openIdleReader = async (
    url: string,
    [path, times]: readonly [path: string, times: number],
  ): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(times));
    return socket;
  };

  test(`${connections} readers that never read are gone in time, and cost little memory`, async (t) => {
    const folder = newFolder();
    const settings = { HALYARD_BOOTSTRAP_KEYS: `test=${key}` };
    const server = await serveWithOptions(folder, settings, { sendTimeout });
    const sockets: Socket[] = [];
    t.after(async () => {
      for (const socket of sockets) socket.destroy();
      server.kill("SIGKILL");
      await server.ended;
      rmSync(folder, { recursive: true, force: true });
    });
    const openConnections = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return Number(/^halyard_connections_open (\S+)/m.exec(text)?.[1]);
    };
    const evaluate = async (): Promise<number> => {
      const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: '{"context":{}}',
      });
      await response.arrayBuffer();
      return response.status;
    };
    assert.equal(await evaluate(), 200);

    for (const wave of waves) {
      const before = memoryOf(server.pid) ?? 0;
      for (let count = 0; count < connections; count += 1) {
        sockets.push(await openIdleReader(server.url, asked[count % 2 === 0 ? 0 : 1]));
      }
      const begun = performance.now();
      await until("them to be there", async () => (await openConnections()) > connections / 2);
      let most = 0;
      let slowest = 0;
      const settled = until(
        "all of them to be gone",
        async () => {
          const askedAt = performance.now();
          assert.equal(await evaluate(), 200, "others are served");
          slowest = Math.max(slowest, performance.now() - askedAt);
          most = Math.max(most, memoryOf(server.pid) ?? 0);
          // What asks here may hold a few connections itself.
          return (await openConnections()) < 10;
        },
        { within, every: 20 },
      );
      await settled.finally(() => {
        const seconds = (performance.now() - begun) / 1_000;
        t.diagnostic(
          `wave ${wave}: ${before.toFixed(0)} MiB before, ${most.toFixed(0)} at most; over after ${seconds.toFixed(0)} s; slowest evaluation beside it ${slowest.toFixed(0)} ms`,
        );
      });
      assert.ok(most < 250, `${most} MiB`);
    }
  });
};
