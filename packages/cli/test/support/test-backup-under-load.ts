// A backup taken while flags are changed as fast as the server takes it: restored, it evaluates byte for byte as the original did.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createConnection } from "../../../server/test/load/connection.ts";
import { openStream, type StreamEvent } from "../../../server/test/support/event-reader.ts";
import { runHalyard, serveOn } from "../../../server/test/support/halyard-process.ts";
import { until } from "../../../server/test/support/until.ts";
import { addBallast, makeStore, newPath } from "./backup-store.ts";

const connections = 48;
const lastingFlags = 40;
const users = ["", "u", "user-1", "user-42", "ünï", "8f14e45f"];

interface Flag {
  readonly key: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly percentage?: number;
  readonly description: string | null;
}
interface Versioned {
  readonly version: number;
  readonly flag: Flag;
}

/** Answers as raw text, over connections that stay open. */
const createCalls = (url: string, key: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const call = (method: string, path: string, body?: object) =>
    new Promise<{ status: number; text: string; tag: string }>((resolve, reject) => {
      const bytes = body && Buffer.from(JSON.stringify(body));
      const headers = {
        authorization: `Bearer ${key}`,
        ...(bytes && { "content-type": "application/json", "content-length": bytes.length }),
      };
      request(url + path, { method, agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text, tag: response.headers.etag ?? "" }),
        );
        response.on("error", reject);
      })
        .on("error", reject)
        .end(bytes);
    });
  return { call, close: () => agent.destroy() };
};
type Calls = ReturnType<typeof createCalls>["call"];

const pick = (count: number): number => Math.floor(Math.random() * count);
const flagNames = Array.from({ length: lastingFlags }, (_, index) => `flag-${index}`);
const typeOf = (index: number): string => (index % 3 === 0 ? "boolean" : "rollout");

/** Changes one flag after the other until it is told to stop: most of them are changed, some come and go. */
const write = async (
  { url, key }: { readonly url: string; readonly key: string },
  name: string,
  state: { stopped: boolean; changes: number },
) => {
  const connection = createConnection(url);
  const call = async (method: string, path: string, body?: object) => {
    const answered = await connection.ask({ method, path, key, body });
    assert.ok(answered !== "cut");
    return answered;
  };
  for (let round = 0; !state.stopped; round += 1) {
    const index = pick(lastingFlags);
    const passing = `passing-${name}-${round % 3}`;
    const { status, text } =
      round % 9 === 0
        ? await call("POST", "/api/v1/flags", { key: passing, type: "boolean" })
        : round % 9 === 5
          ? await call("DELETE", `/api/v1/flags/${passing}`)
          : await call("PATCH", `/api/v1/flags/flag-${index}`, {
              enabled: Math.random() < 0.7,
              description: `${name} ${round}`,
              ...(typeOf(index) === "rollout" && { percentage: pick(100_001) / 1_000 }),
            });
    // What is refused for overload, there already or gone already is no change.
    assert.ok(status < 300 || [404, 409, 503].includes(status), text);
    if (status < 300) state.changes += 1;
  }
  connection.close();
};

/** The flags at a revision, as the stream told them, without a gap. */
const stateAt = (events: readonly StreamEvent[], revision: number): Map<string, Versioned> => {
  const [first, ...changes] = events;
  const snapshot = first?.data as { revision: number; flags: readonly Versioned[] };
  const state = new Map(snapshot.flags.map((entry) => [entry.flag.key, entry]));
  let at = snapshot.revision;
  for (const { event, data } of changes) {
    const change = data as { revision: number; key: string; version: number; flag: Flag | null };
    assert.deepEqual([event, change.revision], ["change", at + 1]);
    at += 1;
    if (change.flag) state.set(change.key, { version: change.version, flag: change.flag });
    else state.delete(change.key);
    if (at === revision) return state;
  }
  throw new Error(`the stream ended at ${at}, before ${revision}`);
};

/** Sets the flags back to what they were, one by one, as a client. */
const bringBack = async (call: Calls, state: ReadonlyMap<string, Versioned>): Promise<void> => {
  const present = JSON.parse((await call("GET", "/api/v1/flags")).text) as Flag[];
  const succeed = async (method: string, path: string, body?: object) => {
    const { status, text } = await call(method, `/api/v1/flags${path}`, body);
    assert.ok(status < 300, text);
  };
  for (const { key } of present) if (!state.has(key)) await succeed("DELETE", `/${key}`);
  const known = new Set(present.map(({ key }) => key));
  for (const { flag } of state.values()) {
    const { key, type, enabled, description, percentage } = flag;
    if (!known.has(key)) await succeed("POST", "", { key, type });
    await succeed("PATCH", `/${key}`, {
      enabled,
      description,
      ...(percentage !== undefined && { percentage }),
    });
  }
};

/** Every evaluation of every flag for every user, and the list: the bytes as they come. */
const evaluations = async (call: Calls, keys: readonly string[]): Promise<string[]> => {
  const bodies = [(await call("GET", "/api/v1/flags")).text];
  for (const user of users) {
    const body = { context: user === "" ? {} : { targetingKey: user, plan: "free" } };
    const all = (await call("POST", "/ofrep/v1/evaluate/flags", body)).text;
    // What comes after the flags says where to listen, which is another place on each server.
    bodies.push(all.slice(0, all.indexOf(',"eventStreams"')));
    for (const key of [...keys, "nowhere"]) {
      const one = await call("POST", `/ofrep/v1/evaluate/flags/${key}`, body);
      bodies.push(`${one.status} ${one.text}`);
    }
  }
  return bodies;
};

/** The changes that were answered before the backup looked at the database for the first time. */
const untilItBegins = async (
  copy: string,
  running: Promise<unknown>,
  state: { readonly changes: number },
): Promise<number> => {
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  const hasBegun = () => readdirSync(dirname(copy)).some((name) => name.startsWith(basename(copy)));
  for (;;) {
    const answered = state.changes;
    await pause(2);
    if (isOver || hasBegun()) return answered;
  }
};

/** Of so many megabytes that a copy takes many steps, with changes between them. */
export const testBackupUnderLoad = ({
  wanted,
  megabytes,
}: {
  readonly wanted: number;
  readonly megabytes: number;
}): void => {
  test("a backup under load evaluates as the original did at that revision", async (t) => {
    const { folder, keys } = await makeStore();
    addBallast(folder, megabytes);
    const key = keys.production ?? "";
    const settings = { HALYARD_LOG_LEVEL: "warn", HALYARD_SIGN_IN_LINK: "off" };
    const original = await serveOn({ HALYARD_DATA: folder, ...settings });
    const there = createCalls(original.url, key);
    t.after(() => {
      there.close();
      original.kill("SIGKILL");
    });
    for (const [index, name] of flagNames.entries()) {
      const made = await there.call("POST", "/api/v1/flags", { key: name, type: typeOf(index) });
      assert.equal(made.status, 201, made.text);
    }
    const headers = { authorization: `Bearer ${key}` };
    const stream = await openStream(`${original.url}/api/v1/stream`, headers);
    t.after(() => stream.close());
    await stream.first(1);

    const state = { stopped: false, changes: 0 };
    const writers = Array.from({ length: connections }, (_, index) =>
      write({ url: original.url, key }, String(index), state),
    );
    await until("a third of the changes", () => state.changes >= wanted / 3);
    const begin = { changes: state.changes, at: performance.now() };
    const copy = newPath();
    const running = runHalyard(["backup", copy, "--data", folder, "--json"]);
    const answeredBefore = await untilItBegins(copy, running, state);
    const backup = await running;
    const seconds = (performance.now() - begin.at) / 1_000;
    const rate = (state.changes - begin.changes) / seconds;
    await until("all changes", () => state.changes >= wanted);
    state.stopped = true;
    await Promise.all(writers);
    assert.equal(backup.code, 0, backup.stderr);
    const { environments } = JSON.parse(backup.stdout) as {
      environments: { name: string; revision: number }[];
    };
    const revision = environments.find(({ name }) => name === "production")?.revision ?? 0;
    t.diagnostic(
      `${state.changes} changes, ${rate.toFixed(0)} a second while the backup ran (${seconds.toFixed(1)} s with the start of the command); it holds revision ${revision}`,
    );
    // Every change that was answered before it began is in it, and not every one that came after.
    const [least, most] = [lastingFlags + answeredBefore, lastingFlags + state.changes];
    assert.ok(revision >= least && revision < most, `${least} <= ${revision} < ${most}`);

    const restored = newPath();
    const put = await runHalyard(["restore", copy, "--data", restored]);
    assert.equal(put.code, 0, put.stderr);
    const again = await serveOn({ HALYARD_DATA: restored, ...settings });
    const here = createCalls(again.url, key);
    t.after(() => {
      here.close();
      again.kill("SIGKILL");
    });

    await until("the stream's last word", () => stream.events.length > state.changes);
    const then = stateAt(stream.events, revision);
    const sorted = [...then.values()].sort((a, b) => (a.flag.key < b.flag.key ? -1 : 1));
    assert.equal(
      (await here.call("GET", "/api/v1/flags")).text,
      JSON.stringify(sorted.map(({ flag }) => flag)),
    );
    for (const { version, flag } of sorted) {
      assert.equal((await here.call("GET", `/api/v1/flags/${flag.key}`)).tag, `"${version}"`);
    }
    await bringBack(there.call, then);
    const names = sorted.map(({ flag }) => flag.key);
    assert.deepEqual(await evaluations(here.call, names), await evaluations(there.call, names));
  });
};
