// Hostile receivers: each attempt ends in time with the right reason, the server stays small, and others are served meanwhile.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { createApi } from "../../support/api.ts";
import {
  createFlag,
  logWhen,
  readLog,
  register,
  type ShownAttempt,
  type ShownDelivery,
  wasAttempted,
} from "../../support/delivery-log.ts";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import { type Certificates, makeCertificates } from "../../support/hostile-certificates.ts";
import { type Hostile, startHostile } from "../../support/hostile-receivers.ts";
import { listenTls } from "../../support/hostile-socket.ts";
import { type ScriptedReceiver, startReceiver } from "../../support/scripted-receiver.ts";
import { newFolder } from "../../support/server.ts";
import { until } from "../../support/until.ts";

/** An attempt may take 15 seconds, and longer on a machine that is busy with other tests. */
export const testHostile = ({
  attemptsWanted,
  longestAttempt,
}: {
  readonly attemptsWanted: number;
  readonly longestAttempt: number;
}): void => {
  const mostGrowth = 50 * 1_024;

  const adminKey = "a-key-for-hostile-receivers";
  const folder = newFolder();
  const certificateFolder = newFolder();
  let certificates: Certificates;
  let server: RunningServer;
  let canary: ScriptedReceiver;
  let healthy: ScriptedReceiver;
  let hostile: Hostile[] = [];

  const admin: ReturnType<typeof createApi> = (...call) => createApi(server.url, adminKey)(...call);

  /** Kilobytes of memory that the server holds. */
  const memory = (): number =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);

  before(async () => {
    certificates = makeCertificates(certificateFolder);
    canary = await startReceiver();
    healthy = await startReceiver();
    hostile = await startHostile(certificates, canary.url);
    server = await serveHalyard(folder, {
      HALYARD_BOOTSTRAP_KEYS: `development=${adminKey}`,
      HALYARD_LOG_LEVEL: "fatal",
      NODE_EXTRA_CA_CERTS: certificates.authorityFile,
    });
  });

  after(async () => {
    await Promise.all(hostile.map(({ listener }) => listener.close()));
    await Promise.all([canary.close(), healthy.close()]);
    server.kill("SIGKILL");
    await server.ended;
    for (const path of [folder, certificateFolder]) rmSync(path, { recursive: true, force: true });
  });

  suite("hostile receivers", () => {
    const attempts = new Map<string, readonly ShownAttempt[]>();
    let growth = 0;
    let servedMeanwhile = 0;
    let isAlive = true;

    before(async () => {
      void server.ended.then(() => {
        isAlive = false;
      });
      const healthyHook = await register(admin, healthy.url);
      // So that the memory of an ordinary working server is the measure.
      for (let change = 0; change < 50; change += 1) await createFlag(admin);
      await logWhen(admin, healthyHook.id, 50, ({ state }) => state === "delivered");
      for (let read = 0; read < 1_000; read += 1) await readLog(admin, healthyHook.id);
      const idle = memory();
      const watch = setInterval(() => {
        if (isAlive) growth = Math.max(growth, memory() - idle);
      }, 50);

      const ids = new Map<string, string>();
      for (const { name, url } of hostile) {
        ids.set(name, (await register(admin, url, ["flag.created"])).id);
      }
      const stillRunning = async (): Promise<boolean> => {
        for (const each of hostile.filter(({ slow }) => slow)) {
          const log = await readLog(admin, ids.get(each.name) ?? "");
          if (log.some(wasAttempted)) return false;
        }
        return true;
      };
      for (let change = 0; change < attemptsWanted; change += 1) {
        const told = healthy.received.length;
        await createFlag(admin);
        await until("the healthy receiver is told", () => healthy.received.length > told);
        if (await stillRunning()) servedMeanwhile += 1;
      }
      for (const { name } of hostile) {
        const log = await until<ShownDelivery[]>(
          `${attemptsWanted} attempts of ${name}`,
          async () => {
            const found = await readLog(admin, ids.get(name) ?? "");
            const made = found.flatMap((delivery) => delivery.attempts).length;
            return made >= attemptsWanted && found;
          },
        );
        attempts.set(
          name,
          log.flatMap((delivery) => delivery.attempts),
        );
      }
      clearInterval(watch);
    });

    test("every attempt ends within 16 s, says why, and keeps at most 1 KiB", (t) => {
      for (const { name, error, status } of hostile) {
        const made = attempts.get(name) ?? [];
        assert.ok(made.length >= attemptsWanted, name);
        for (const attempt of made) {
          const shown = `${name}: ${JSON.stringify({ ...attempt, response: attempt.response?.length })}`;
          if (error === null) assert.equal(attempt.error, null, shown);
          else assert.match(attempt.error ?? "delivered", error, shown);
          assert.equal(attempt.status, status, shown);
          assert.ok(attempt.milliseconds < longestAttempt, shown);
          assert.ok((attempt.response?.length ?? 0) <= 1_024, shown);
        }
        const [first] = made;
        t.diagnostic(`${name}: ${first?.error ?? "delivered"} (${first?.milliseconds} ms)`);
      }
      const endless = attempts.get("endless body")?.[0];
      assert.equal(endless?.response, "x".repeat(1_024), "the first KiB is kept");
    });

    test("no redirect is followed", () => {
      assert.equal(canary.received.length, 0);
      const looping = hostile.find(({ name }) => name === "redirect to itself");
      const asked = attempts.get("redirect to itself")?.length ?? 0;
      assert.ok(asked > 0 && (looping?.listener.connections() ?? 0) <= asked + 1);
    });

    test("a healthy receiver beside them is served while they are still at it", () => {
      assert.equal(servedMeanwhile, attemptsWanted);
      assert.equal(healthy.received.length, 50 + attemptsWanted);
    });

    test("the server grows by less than 50 MB and lives on", async (t) => {
      t.diagnostic(`grew by ${(growth / 1_024).toFixed(1)} MB`);
      assert.ok(growth < mostGrowth, `grew by ${growth} kB`);
      assert.ok(isAlive);
      assert.equal((await admin("GET", "/flags")).status, 200);
    });
  });

  test("https with the certificate of an authority that is known is delivered to, and told the name", async (t) => {
    const names: (string | false | null)[] = [];
    const good = await listenTls(certificates.good, (socket) => {
      names.push((socket as typeof socket & { servername: string | false | null }).servername);
      socket.once("data", () => {
        socket.end("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
      });
    });
    t.after(() => good.close());
    const named = await register(admin, `https://localhost:${good.port}/hook`, ["flag.updated"]);
    const numbered = await register(admin, `https://127.0.0.1:${good.port}/hook`, ["flag.updated"]);
    for (const { id } of [named, numbered]) {
      assert.equal((await admin("POST", `/webhooks/${id}/test`)).status, 202);
      const [delivery] = await logWhen(admin, id, 1, wasAttempted);
      assert.deepEqual([delivery?.attempts[0]?.error, delivery?.state], [null, "delivered"]);
    }
    assert.deepEqual(names, ["localhost", false], "an address is no name for SNI");
  });
};
