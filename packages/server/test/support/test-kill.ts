// The server is killed at random moments while clients change flags: nothing answered is lost, nothing is half there.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type RunningServer, serveHalyard } from "./halyard-process.ts";
import { newFolder } from "./server.ts";
import { auditStore } from "./store-audit.ts";

const flagCount = 30;
const writers = 6;
const environment = "development";
const adminKey = "a-key-that-outlives-every-kill";

export const testKill = ({ kills }: { readonly kills: number }): void => {
  const folder = newFolder();
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
  });
  after(() => {
    receiver.close();
    receiver.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Mulberry32: the same seed gives the same choices again (not the same interleaving). */
  const createRandom = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
    };
  };
  type Random = ReturnType<typeof createRandom>;

  interface State {
    readonly version: number;
    readonly flag: Readonly<Record<string, unknown>> | null;
  }

  interface Change {
    readonly key: string;
    readonly method: "POST" | "PATCH" | "DELETE";
    readonly body?: Readonly<Record<string, unknown>>;
    /** The state it leads to. */
    readonly to: State;
  }

  const chooseChange = (random: Random, key: string, { version, flag }: State): Change => {
    const next = version + 1;
    if (!flag) {
      const body = { key, type: "rollout", percentage: random(100_001) / 1_000 };
      const made = { ...body, enabled: false, description: null };
      return { key, method: "POST", body, to: { version: next, flag: made } };
    }
    const choice = random(10);
    if (choice === 0) return { key, method: "DELETE", to: { version: next, flag: null } };
    const body = {
      // Both at once make two events of one change.
      ...(choice < 6 && { enabled: !flag.enabled }),
      ...(choice > 3 && { description: `${next} ${"x".repeat(random(200))}` }),
    };
    return { key, method: "PATCH", body, to: { version: next, flag: { ...flag, ...body } } };
  };

  const callApi = (url: string, method: string, path: string, body?: object) =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminKey}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  /** Changes its own flags one after the other until the server is gone; gives the change that was never answered. */
  const write = async (
    { url }: RunningServer,
    random: Random,
    keys: readonly string[],
    states: Map<string, State>,
    answer: (change: Change) => void,
  ): Promise<Change> => {
    for (;;) {
      const key = keys[random(keys.length)] ?? "";
      const change = chooseChange(random, key, states.get(key) ?? { version: 0, flag: null });
      const path = change.method === "POST" ? "/flags" : `/flags/${key}`;
      let got: { status: number; tag: string | null; text: string };
      try {
        const response = await callApi(url, change.method, path, change.body);
        const { status, headers } = response;
        got = { status, tag: headers.get("etag"), text: await response.text() };
      } catch {
        return change;
      }
      const { status, tag, text } = got;
      assert.equal(status, { POST: 201, PATCH: 200, DELETE: 204 }[change.method], text);
      if (change.to.flag) {
        assert.equal(tag, `"${change.to.version}"`);
        assert.deepEqual(JSON.parse(text), change.to.flag);
      }
      states.set(key, change.to);
      answer(change);
    }
  };

  test(`${kills} kills`, async (t) => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`SEED=${seed}`);
    const random = createRandom(seed);
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;

    const start = () =>
      serveHalyard(folder, {
        HALYARD_BOOTSTRAP_KEYS: `${environment}=${adminKey}`,
        HALYARD_LOG_LEVEL: "fatal",
      });
    let server = await start();
    t.after(() => server.kill("SIGKILL"));
    const hook = { url: `http://127.0.0.1:${port}/hook`, events: ["*"] };
    assert.equal((await callApi(server.url, "POST", "/webhooks", hook)).status, 201);

    const keys = Array.from({ length: flagCount }, (_, index) => `flag-${index}`);
    const states = new Map<string, State>();
    let changes = 0;
    let survivors = 0;

    for (let round = 0; round < kills; round += 1) {
      const answered: Change[] = [];
      const { promise: busy, resolve: enough } = Promise.withResolvers<void>();
      const wanted = 11 + random(60);
      const answer = (change: Change) => {
        answered.push(change);
        if (answered.length === wanted) enough();
      };
      const writing = Array.from({ length: writers }, (_, writer) => {
        const own = keys.filter((_key, index) => index % writers === writer);
        return write(server, createRandom(random(2 ** 31)), own, states, answer);
      });
      const unanswered = Promise.all(writing);
      await Promise.race([busy, unanswered]);
      // The moment itself is what varies: between two answers the others are anywhere on their way.
      await wait(random(6));
      server.kill("SIGKILL");
      assert.equal((await server.ended).signal, "SIGKILL");
      const open = await unanswered;

      const audit = await auditStore(folder, environment);
      for (const { key, to, method } of answered) {
        const entry = audit.find(key, to.version);
        assert.ok(entry, `${method} of ${key} to version ${to.version} was answered and is lost`);
        assert.deepEqual(entry.after, to.flag);
      }
      for (const change of open) {
        const happened = audit.last.get(change.key)?.version === change.to.version;
        if (!happened) continue;
        survivors += 1;
        states.set(change.key, change.to);
      }
      for (const key of keys) {
        const entry = audit.last.get(key);
        assert.deepEqual(
          { version: entry?.version ?? 0, flag: entry?.after ?? null },
          states.get(key) ?? { version: 0, flag: null },
          `${key} is in a state that nobody asked for`,
        );
      }
      changes += answered.length;

      server = await start();
      const listed = await callApi(server.url, "GET", "/flags");
      const expected = [...states.values()].map(({ flag }) => flag).filter((flag) => flag !== null);
      assert.deepEqual(
        await listed.json(),
        expected.sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1)),
      );
    }
    const found = await callApi(server.url, "GET", "/history/verification");
    assert.partialDeepStrictEqual(await found.json(), { verified: true });

    t.diagnostic(
      `${changes} changes answered; ${survivors} written but killed before their answer`,
    );
    assert.ok(changes > 10 * kills, "the clients got to change something between the kills");
    server.kill("SIGTERM");
    assert.equal((await server.ended).code, 0);
  });
};
