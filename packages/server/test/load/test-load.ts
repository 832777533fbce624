// Ten times as many connections as can be served at once: nothing crashes, nothing grows, what is answered is right.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Flag } from "@halyard/core/flags/registry";
import { createApi } from "../support/api.ts";
import { serveWithOptions } from "../support/halyard-process.ts";
import { newFolder } from "../support/server.ts";
import { until } from "../support/until.ts";
import { hammer } from "./hammer.ts";
import type { ProbeOrder, ProbeReport, ProbeWish } from "./probe.ts";

const fewRequests = 3_000;
const connections = 1_000;
const key = "load-key-of-its-own-0123";
/** It goes on for so many seconds; without, for a few thousand requests. */
export const testLoad = ({ seconds }: { readonly seconds: number }): void => {
  const limit = { timeout: (seconds + 1_800) * 1_000 };

  const openProbe = (order: ProbeOrder) => {
    const file = fileURLToPath(new URL("./probe.ts", import.meta.url));
    const probe = fork(file, [JSON.stringify(order)], { execArgv: [] });
    return {
      async tell(wish: ProbeWish): Promise<ProbeReport> {
        probe.send(wish);
        const [report] = (await once(probe, "message")) as [ProbeReport];
        return report;
      },
      close: () => probe.disconnect(),
    };
  };

  /** Mebibytes of a process; undefined where the system does not tell. */
  const memoryOf = (pid: number): number | undefined => {
    const file = `/proc/${pid}/statm`;
    if (!existsSync(file)) return undefined;
    return (Number(readFileSync(file, "utf8").split(" ")[1]) * 4_096) / 2 ** 20;
  };

  /** Mebibytes that the program itself holds, without what the store keeps to be faster; undefined when it is not told. */
  const heapOf = async (url: string): Promise<number | undefined> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const bytes = /^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1];
    return bytes === undefined ? undefined : Number(bytes) / 2 ** 20;
  };

  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

  const shown = (values: object): string =>
    JSON.stringify(values, (_, value: unknown) =>
      typeof value === "number" ? Math.round(value * 100) / 100 : value,
    );

  /** Few in a short run, so that some are refused on a fast machine too. */
  const mayWait = seconds > 0 ? 100 : 10;

  for (const { name, settings, options, pause } of [
    {
      name: "1,000 clients where 100 connections are allowed",
      settings: { HALYARD_MAX_CONNECTIONS: "100" },
      options: {},
      pause: 200,
    },
    {
      name: `1,000 connections that ask without a pause, where ${mayWait} requests may wait`,
      settings: {},
      options: { maxWaiting: mayWait },
      pause: 20,
    },
  ]) {
    test(name, limit, async (t) => {
      const folder = newFolder();
      const server = await serveWithOptions(
        folder,
        {
          HALYARD_BOOTSTRAP_KEYS: `load=${key}`,
          HALYARD_LOG_LEVEL: "warn",
          HALYARD_MAX_LAG: "500",
          ...settings,
        },
        options,
      );
      t.after(async () => {
        server.kill("SIGKILL");
        await server.ended;
        rmSync(folder, { recursive: true, force: true });
      });
      const api = createApi(server.url, key);
      /** On a machine that is busy with other work the server may refuse for a while. */
      const done = (method: "GET" | "POST" | "PATCH", path: string, body?: object) =>
        until(`${method} ${path}`, async () => {
          const answer = await api(method, path, body);
          return answer.status < 300 && answer;
        });
      const fixed: Flag[] = [];
      for (let index = 0; index < 20; index += 1) {
        const made = { key: `fixed-${index}`, type: "rollout", percentage: index * 5 };
        await done("POST", "/flags", made);
        const patched = await done("PATCH", `/flags/${made.key}`, { enabled: index % 4 !== 0 });
        fixed.push(patched.body as Flag);
      }
      const probe = openProbe({ url: server.url, key, flag: "fixed-1", every: 5 });
      t.after(() => probe.close());
      const enough = seconds > 0 ? 1_000 : 100;
      await until("answers", async () => (await probe.tell("look")).answered >= enough);
      const alone = await probe.tell("report");

      const [memory, heap]: [number[], number[]] = [[], []];
      const begun = performance.now();
      let [asks, isOver] = [0, false];
      const sampling = setInterval(
        () => {
          const mebibytes = memoryOf(server.pid);
          if (mebibytes !== undefined) memory.push(mebibytes);
          // Asking costs the server something: not in a run of a few seconds.
          if (seconds > 0) {
            heapOf(server.url).then(
              (held) => held !== undefined && heap.push(held),
              () => undefined,
            );
          }
          isOver = seconds > 0 && performance.now() - begun > seconds * 1_000;
        },
        seconds > 0 ? 1_000 : 50,
      );
      const result = await hammer({
        url: server.url,
        key,
        connections,
        fixed,
        pause,
        isOver: () => {
          asks += 1;
          return isOver || (seconds === 0 && asks > fewRequests);
        },
      });
      clearInterval(sampling);
      const beside = await probe.tell("report");
      const { statuses, wrong } = result;
      t.diagnostic(`answers by status: ${shown(statuses)}`);
      t.diagnostic(`evaluation in ms, alone ${shown(alone)}, beside the load ${shown(beside)}`);

      assert.deepEqual(wrong.slice(0, 10), [], `${wrong.length} wrong answers`);
      assert.deepEqual(
        Object.keys(statuses).filter((status) => /^5(?!03)/.test(status)),
        [],
      );
      // Whether so many ever wait at once within a few seconds depends on the machine.
      const isSure = seconds > 0 || "HALYARD_MAX_CONNECTIONS" in settings;
      for (const status of isSure ? ["200", "503"] : ["200"]) {
        assert.ok((statuses[status] ?? 0) > 0, `no ${status}`);
      }
      assert.ok(beside.answered > 0, "evaluation goes on");

      const fifth = Math.floor(memory.length / 5);
      if (fifth > 0) {
        const [early, late] = [
          median(memory.slice(fifth, 2 * fifth)),
          median(memory.slice(-fifth)),
        ];
        t.diagnostic(`memory in MiB: ${shown({ early, late, most: Math.max(...memory) })}`);
        // The store's two caches of 32 MiB may still be filling; a few seconds only tell whether it runs away.
        const allowed = seconds > 0 ? early + 80 : 600;
        assert.ok(late < allowed, `memory grew from ${early} to ${late} MiB`);
      }
      const part = Math.floor(heap.length / 5);
      if (part > 0) {
        // The least of each: what is there to be collected comes and goes.
        const [early, late] = [
          Math.min(...heap.slice(part, 2 * part)),
          Math.min(...heap.slice(-part)),
        ];
        t.diagnostic(`heap in MiB: ${shown({ early, late, most: Math.max(...heap) })}`);
        assert.ok(late < early * 1.2 + 8, `the heap grew from ${early} to ${late} MiB`);
      }
      assert.deepEqual((await done("GET", "/flags/fixed-1")).body, fixed[1]);
      server.kill("SIGTERM");
      const { code, stdout } = await server.ended;
      assert.equal(code, 0);
      assert.doesNotMatch(stdout, /a request failed|"level":(50|60)/);
      if ((statuses["503"] ?? 0) > 0) {
        assert.ok(stdout.includes("overloaded: requests are refused"), "it says that it refuses");
      }
    });
  }
};
