// PostgreSQL goes away under load and comes back: nothing hangs, evaluation goes on, streams stay, and all catches up by itself.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@halyard/sdk";
import { readRows } from "../../support/database.ts";
import { bearer, openStream } from "../../support/event-reader.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import { dropDatabase } from "../../support/postgres.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres-server.ts";
import { newFolder } from "../../support/server.ts";
import { auditStore } from "../../support/store-audit.ts";
import { call, register } from "./client.ts";
import { flags, keepAsking, key } from "./keep-asking.ts";
import { crash, freeze } from "./postgres-away.ts";
import { startReceiver, stepsBack } from "./receiver.ts";
import { readExpectedEvents } from "./told.ts";
import { until } from "./until.ts";

const follow = async (server: RunningServer) => {
  const response = await fetch(`${server.url}/ofrep/v1/evaluate/flags`, {
    method: "POST",
    headers: { ...bearer(key), "content-type": "application/json" },
    body: '{"context":{}}',
  });
  const { eventStreams } = (await response.json()) as { eventStreams: { url: string }[] };
  const refetchUrl = new URL(eventStreams[0]?.url ?? "", server.url).href;
  const client = createClient({ url: server.url, key });
  assert.deepEqual(await client.ready(), { ok: true });
  return {
    client,
    flagStream: await openStream(`${server.url}/api/v1/stream`, bearer(key)),
    refetchStream: await openStream(refetchUrl),
  };
};

const deliveries = async (folder: string, condition: string) =>
  (await readRows({ folder }, `select count(*) as n from deliveries where ${condition}`))[0]?.n;

/**
 * A server that has gone silent must be silent for longer than a statement may take; a request that waits for `longestWait` hangs.
 * `pause` is from an answer to the next request of the same kind.
 */
export const testOutage = ({
  outages,
  longestWait,
  pause,
}: {
  readonly outages: Readonly<Record<"crash" | "freeze", number>>;
  readonly longestWait: number;
  readonly pause: number;
}): void => {
  let postgres: PostgresServer;
  before(async () => {
    postgres = await startPostgresServer();
    process.env.TEST_DATABASE_URL = postgres.url;
  });
  after(() => postgres.remove());

  for (const [name, takeAway] of Object.entries({ crash, freeze })) {
    const length = outages[name as keyof typeof outages];
    test(`PostgreSQL is away for ${length / 1_000} s: ${name}`, async (t) => {
      const folder = newFolder();
      const receiver = await startReceiver();
      const start = () =>
        serveHalyard(folder, {
          HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
          HALYARD_LOG_LEVEL: "fatal",
          HALYARD_POSTGRES_TIMEOUT: "10",
        });
      const servers = [await start(), await start()];
      const [first] = servers;
      assert.ok(first);
      let giveBack: (() => Promise<void>) | undefined;
      let isOver = false;
      const followers: Awaited<ReturnType<typeof follow>>[] = [];
      t.after(async () => {
        isOver = true;
        await giveBack?.();
        for (const { client, flagStream, refetchStream } of followers) {
          await client.close();
          flagStream.close();
          refetchStream.close();
        }
        for (const server of servers) server.kill("SIGKILL");
        await Promise.all(servers.map(({ ended }) => ended));
        await receiver.close();
        await dropDatabase(basename(folder));
        rmSync(folder, { recursive: true, force: true });
      });
      const place = { url: first.url, key };
      await register(place, receiver);
      for (const flag of flags) {
        await call(place, "POST", "/flags", { key: flag, type: "boolean" });
      }
      for (const server of servers) followers.push(await follow(server));

      const loads = servers.map(({ url }, index) =>
        keepAsking({ url, name: `load-${index}`, longestWait, pause }, () => isOver),
      );
      const done = Promise.all(loads.map((load) => load.done));
      // Whatever hangs is told at once.
      const orHangs = <T>(work: Promise<T>): Promise<T> =>
        Promise.race([work, done.then(() => work)]);
      const answers = (what: string, status: number) =>
        loads.map(
          ({ asked }) => asked.filter((a) => a.what === what && a.status === status).length,
        );
      const more = (what: string, status: number) => {
        const before = answers(what, status);
        const isMore = () =>
          answers(what, status).every((now, index) => now > (before[index] ?? 0));
        return orHangs(until(`${what} ${status} from both`, isMore));
      };
      await more("PATCH", 200);
      await more("readyz", 200);

      giveBack = await takeAway(postgres);
      const gone = performance.now();
      const changedBefore = loads.map(({ changes }) => changes.length);
      await more("readyz", 503);
      await more("PATCH", 503);
      const noticed = performance.now() - gone;
      await more("evaluation", 200);
      await orHangs(wait(Math.max(0, length - (performance.now() - gone))));
      const bring = giveBack;
      giveBack = undefined;
      await bring();
      const back = performance.now();
      await more("PATCH", 200);
      await more("readyz", 200);
      await more("POST", 201);
      const recovered = performance.now() - back;
      isOver = true;
      await done;

      const asked = loads.flatMap((load) => load.asked);
      for (const { what, status, retryAfter } of asked) {
        const wanted = what === "evaluation" || what === "healthz" ? [200] : [200, 201, 503];
        const isRefused = what === "unknown key" && status === 401;
        assert.ok(wanted.includes(status) || isRefused, `${what}: ${status}`);
        if (status === 503)
          assert.ok(Number(retryAfter) >= 1, `${what}: Retry-After ${retryAfter}`);
      }

      await until(
        "all is delivered",
        async () => (await deliveries(folder, "state <> 'delivered'")) === 0,
        {
          every: 50,
        },
      );
      const { body } = await call(place, "GET", "/flags");
      const shown = body as { key: string; description: string | null }[];
      const revision = (await readRows({ folder }, "select max(revision) as n from history"))[0]?.n;
      for (const { client, flagStream, refetchStream } of followers) {
        await until("the stream has every change", () => {
          const last = flagStream.events.at(-1)?.data as { revision: number } | undefined;
          return last?.revision === revision;
        });
        const revisions = flagStream.events.map(
          ({ data }) => (data as { revision: number }).revision,
        );
        const [begin = 0] = revisions;
        assert.deepEqual(
          revisions,
          revisions.map((_, index) => begin + index),
          "in order, no gap",
        );
        await until(
          "clients are told to ask again",
          () => refetchStream.events.at(-1)?.id === flagStream.events.at(-1)?.id,
        );
        assert.deepEqual([flagStream.ended, refetchStream.ended], [false, false]);
        await until("the client has the last values", () =>
          client.flags().every((flag, index) => flag.description === shown[index]?.description),
        );
        assert.equal(client.state, "live");
      }
      const changes = loads.flatMap((load) => load.changes);
      for (const { flag, version, description } of changes) {
        const [entry] = await readRows(
          { folder },
          "select after from history where subject = 'flag' and subject_id = ? and version = ?",
          flag,
          version,
        );
        assert.equal(
          JSON.parse(String(entry?.after)).description,
          description,
          "as it was answered",
        );
      }
      for (const server of servers) server.kill("SIGTERM");
      for (const { ended } of servers) assert.equal((await ended).code, 0, "it lives through it");
      await auditStore(folder, "development");
      const events = await readExpectedEvents(folder);
      const told = new Set(receiver.receipts.map(({ eventId }) => eventId));
      assert.equal(told.size, events.size, "every event is told");
      assert.deepEqual(receiver.wrong, []);
      // A crash may take the last settlements with it, which are then sent again: nothing comes first out of its order.
      const firstOfEach = receiver.receipts.filter(
        ({ eventId }, index) => receiver.receipts.findIndex((r) => r.eventId === eventId) === index,
      );
      assert.deepEqual(stepsBack(firstOfEach), []);
      if (name === "freeze") assert.deepEqual(stepsBack(receiver.receipts), []);
      assert.ok(changes.length > changedBefore.reduce((sum, count) => sum + count, 0));
      const slowest = Map.groupBy(asked, ({ what }) => what)
        .entries()
        .map(
          ([what, those]) => `${what} ${Math.round(Math.max(...those.map(({ took }) => took)))}`,
        );
      t.diagnostic(
        `${asked.length} answers, ${asked.filter(({ status }) => status === 503).length} of them 503; ${changes.length} changes; noticed after ${Math.round(noticed)} ms, back after ${Math.round(recovered)} ms; sent again ${receiver.receipts.length - told.size}`,
      );
      t.diagnostic(`longest waits in ms: ${[...slowest].join(", ")}`);
    });
  }

  test("a server that is told to stop while PostgreSQL is silent ends", async (t) => {
    const folder = newFolder();
    const server = await serveHalyard(folder, {
      HALYARD_LOG_LEVEL: "fatal",
      HALYARD_POSTGRES_TIMEOUT: "10",
    });
    const giveBack = await freeze(postgres);
    t.after(async () => {
      await giveBack();
      server.kill("SIGKILL");
      await server.ended;
      await dropDatabase(basename(folder));
      rmSync(folder, { recursive: true, force: true });
    });
    server.kill("SIGTERM");
    const ended = await Promise.race([server.ended, wait(60_000, undefined, { ref: false })]);
    assert.equal(ended?.code, 0);
  });
};
