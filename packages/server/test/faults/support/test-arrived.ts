// Three instances on PostgreSQL and their clients: one client is paused and one instance is cut off, and exactly they are named.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Programs } from "@halyard/sdk/management";
import { serveOn } from "../../support/halyard-process.ts";
import { newDatabase } from "../../support/postgres.ts";
import { call } from "./client.ts";
import { until } from "./until.ts";

export const testArrived = (size: { readonly clients: number; readonly changes: number }): void => {
  const key = "a-key-for-programs-that-tell";
  const flag = "shown";

  /** A way to PostgreSQL that can be cut. */
  const startPassage = async (url: string) => {
    const { hostname, port } = new URL(url);
    const open = new Set<Socket>();
    let isCut = false;
    const server = createServer((socket) => {
      open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)));
      if (isCut) return;
      const there = connect(Number(port || 5432), hostname || "127.0.0.1");
      open.add(there.on("error", () => {}).on("close", () => open.delete(there)));
      socket.pipe(there).pipe(socket);
      const end = () => {
        socket.destroy();
        there.destroy();
      };
      socket.on("close", end);
      there.on("close", end);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const through = new URL(url);
    through.hostname = "127.0.0.1";
    through.port = String(typeof address === "object" && address ? address.port : 0);
    return {
      url: through.href,
      /** Connections are gone, and new ones never answer. */
      cut() {
        isCut = true;
        for (const socket of open) socket.destroy();
      },
      mend() {
        isCut = false;
        for (const socket of open) socket.destroy();
      },
      close() {
        server.close();
        for (const socket of open) socket.destroy();
      },
    };
  };

  const programFile = fileURLToPath(new URL("./sdk-client.ts", import.meta.url));

  const startProgram = async (name: string, urls: readonly string[]) => {
    const child: ChildProcess = spawn(process.execPath, [programFile, key, name, flag, ...urls], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const answers: string[] = [];
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => answers.push(line));
    await until(`${name} is ready`, () => answers.length === 1);
    assert.deepEqual(answers, ["ready true"]);
    return {
      names: urls.map((_, index) => (urls.length === 1 ? name : `${name}-${index}`)),
      async values(): Promise<readonly string[]> {
        const before = answers.length;
        child.stdin?.write("?\n");
        await until(`${name} answers`, () => answers.length > before);
        return JSON.parse(answers.at(-1) ?? "") as string[];
      },
      signal: (signal: NodeJS.Signals) => void child.kill(signal),
    };
  };

  const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(2)} s`;
  const median = (numbers: readonly number[]) =>
    numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

  test(`of ${size.clients} clients at three instances, exactly those that lack a change are named`, async (t) => {
    const database = await newDatabase();
    const passage = await startPassage(database);
    const ended: (() => Promise<unknown>)[] = [];
    after(async () => {
      passage.close();
      await Promise.all(ended.map((end) => end()));
    });
    const start = async (url: string) => {
      const server = await serveOn({
        DATABASE_URL: url,
        HALYARD_SECRET_KEY: "07".repeat(32),
        HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
        HALYARD_LOG_LEVEL: "fatal",
        HALYARD_POSTGRES_TIMEOUT: "10",
      });
      ended.push(() => {
        server.kill("SIGKILL");
        return server.ended;
      });
      return server;
    };
    const one = await start(database);
    const two = await start(database);
    const cutOff = await start(passage.url);
    const place = { url: one.url, key };
    const programs = async (revision?: number): Promise<Programs> => {
      const query = revision === undefined ? "" : `?revision=${revision}`;
      return (await call(place, "GET", `/clients${query}`)).body as Programs;
    };

    const first = { "v-0": "v-0", "v-off": "off" };
    const made = await call(place, "POST", "/flags", {
      ...{ key: flag, type: "variant", valueType: "string" },
      ...{ variants: first, off: "v-off", otherwise: "v-0" },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    let changes = 0;
    const change = async () => {
      changes += 1;
      const value = `v-${changes}`;
      const variants = { [value]: value, "v-off": "off" };
      const body = { enabled: true, variants, otherwise: value };
      const { status, body: answer } = await call(place, "PATCH", `/flags/${flag}`, body);
      assert.equal(status, 200, JSON.stringify(answer));
      return value;
    };

    const perInstance = size.clients / 3;
    const several = (url: string, count: number) => Array.from({ length: count }, () => url);
    const started = [
      await startProgram("one", several(one.url, perInstance)),
      await startProgram("two", several(two.url, perInstance - 1)),
      await startProgram("cut", several(cutOff.url, perInstance)),
    ] as const;
    const paused = await startProgram("paused", [two.url]);
    for (const program of [...started, paused]) {
      ended.push(async () => {
        program.signal("SIGKILL");
      });
    }
    const untilReached = (revision?: number) =>
      until("everybody has it", async () => {
        const { reached } = await programs(revision);
        return reached.have === reached.of && reached.of === size.clients + 3;
      });
    await untilReached();

    // What is reported as reached is reached: every client is asked at once.
    const within: number[] = [];
    const seen: number[] = [];
    for (let count = 0; count < size.changes; count += 1) {
      const value = await change();
      const { revision } = await programs();
      seen.push(await untilReached(revision));
      for (const program of [...started, paused]) {
        assert.deepEqual(new Set(await program.values()), new Set([value]));
      }
      within.push((await programs(revision)).reached.within ?? Number.NaN);
    }
    t.diagnostic(
      `${size.changes} changes: reached within ${median(within)} ms (median; longest ${Math.max(...within)} ms), known ${Math.round(median(seen))} ms after it was asked (longest ${Math.round(Math.max(...seen))} ms)`,
    );

    // One client is paused, and one instance loses its database.
    paused.signal("SIGSTOP");
    passage.cut();
    const cutAt = performance.now();
    await change();
    const { instances } = await programs();
    assert.equal(instances.length, 3);
    const lagging = (found: Programs) => ({
      instances: found.instances
        .filter(({ state }) => state !== "current")
        .map(({ state }) => state),
      clients: found.clients
        .filter(({ state }) => state !== "current")
        .map(({ name, state }) => `${name} ${state}`)
        .sort(),
    });
    const expected = {
      instances: ["lost"],
      clients: [...(started[2]?.names ?? []).map((name) => `${name} lost`), "paused behind"].sort(),
    };
    await until("exactly they are named", async () => {
      return JSON.stringify(lagging(await programs())) === JSON.stringify(expected);
    });
    const named = performance.now() - cutAt;
    t.diagnostic(
      `named ${seconds(named)} after the client was paused and the instance was cut off`,
    );
    const { reached } = await programs();
    assert.deepEqual([reached.of - reached.have, reached.within], [perInstance + 2, null]);

    passage.mend();
    paused.signal("SIGCONT");
    const back = await until("everybody has it", async () => {
      const found = await programs();
      return found.reached.have === found.reached.of && found.reached.of === size.clients + 3;
    });
    t.diagnostic(`all have it again ${seconds(back)} after both came back`);
    for (const program of [...started, paused]) {
      assert.deepEqual(new Set(await program.values()), new Set([`v-${changes}`]));
    }
    if (size.clients >= 300) assert.ok(named < 10_000, `named after ${seconds(named)}`);
  });
};
