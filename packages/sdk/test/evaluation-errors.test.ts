// Evaluations of keys without a flag, and of flags of another type: reported to the server, and logged once for each key.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { ClientError } from "@halyard/sdk";
import { createManagement } from "@halyard/sdk/management";
import { startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { clientOf, contextClientOf } from "./support/clients.ts";
import {
  booleanFlag,
  openStream,
  type ScriptedServer,
  scriptedServer,
  snapshotText,
} from "./support/scripted-server.ts";

const report = "POST /api/v1/usage";
const stream = "GET /api/v1/stream";

interface Entry {
  readonly key: string;
  readonly on: number;
  readonly off: number;
  readonly errors?: Readonly<Record<string, number>>;
}

const reportsTo = (server: ScriptedServer) =>
  server.to(report).map(({ body }) => (JSON.parse(body) as { evaluations: Entry[] }).evaluations);

/** A log that keeps what it receives. */
const keptLog = () => {
  const lines: { message: string; code: ClientError["code"] }[] = [];
  return {
    lines,
    log: (message: string, { code }: ClientError) => void lines.push({ message, code }),
  };
};

const sendFlags = (server: ScriptedServer, ...flags: Parameters<typeof snapshotText>[1][]) =>
  server.answer(stream, (response) => {
    openStream(response);
    response.write(snapshotText("1-a", ...flags));
  });

suite("with a server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  const withFlags = async () => {
    const environment = await server.environment();
    const management = createManagement({ url: server.url, key: environment.keys.admin });
    for (const key of ["new-checkout", "old-checkout"]) {
      assert.ok((await management.flags.create({ key, type: "boolean" })).ok);
    }
    assert.ok((await management.flags.delete("old-checkout")).ok);
    const errors = async () => {
      const found = await management.usageErrors();
      assert.ok(found.ok);
      return found.value.map(({ key, errorCode, count, deletion, programs }) => ({
        ...{ key, errorCode, count },
        isDeleted: deletion !== null,
        programs: programs.map(({ name }) => name),
      }));
    };
    return { environment, management, errors };
  };

  test("a program's failed evaluations are listed with its name, and logged once for each key", async (t) => {
    const { environment, errors } = await withFlags();
    const { lines, log } = keptLog();
    const { client } = clientOf(t, server.url, {
      key: environment.keys.server,
      name: "checkout-api",
      reportApplied: true,
      reportUsage: true,
      log,
    });
    assert.ok((await client.ready()).ok);
    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal(client.isEnabled("old-checkout", {}, true), true);
      assert.equal(client.details("old-checkout").errorCode, "FLAG_NOT_FOUND");
      assert.equal(client.stringValue("new-checkout", {}, "small"), "small");
      client.numberValue("never-there", {}, 1);
    }
    assert.deepEqual(lines, [
      {
        code: "FLAG_NOT_FOUND",
        message:
          'Halyard: There is no flag "old-checkout". The fallback applies. This is logged once for each key.',
      },
      {
        code: "TYPE_MISMATCH",
        message:
          'Halyard: The flag "new-checkout" is of type boolean, not string. The fallback applies. This is logged once for each key.',
      },
      {
        code: "FLAG_NOT_FOUND",
        message:
          'Halyard: There is no flag "never-there". The fallback applies. This is logged once for each key.',
      },
    ]);
    await until("the reports", async () => (await errors()).length === 3);
    await client.close();
    const programs = ["checkout-api"];
    assert.deepEqual(await errors(), [
      { key: "never-there", errorCode: "FLAG_NOT_FOUND", count: 3, isDeleted: false, programs },
      { key: "new-checkout", errorCode: "TYPE_MISMATCH", count: 3, isDeleted: false, programs },
      { key: "old-checkout", errorCode: "FLAG_NOT_FOUND", count: 6, isDeleted: true, programs },
    ]);
  });

  test("so are a page's, with the name of its API key", async (t) => {
    const { environment, management, errors } = await withFlags();
    const made = await management.keys.create({ name: "web-shop", role: "client" });
    assert.ok(made.ok);
    const { lines, log } = keptLog();
    const { client } = contextClientOf(t, server.url, {
      key: made.value.key,
      context: { targetingKey: "user-1" },
      reportUsage: true,
      log,
    });
    assert.ok((await client.ready()).ok);
    assert.equal(client.isEnabled("old-checkout"), false);
    assert.equal(client.isEnabled("old-checkout", true), true);
    assert.equal(client.stringValue("new-checkout", "small"), "small");
    await client.close();
    assert.deepEqual(
      lines.map(({ code }) => code),
      ["FLAG_NOT_FOUND", "TYPE_MISMATCH"],
    );
    const programs = ["web-shop"];
    assert.deepEqual(await errors(), [
      { key: "new-checkout", errorCode: "TYPE_MISMATCH", count: 1, isDeleted: false, programs },
      { key: "old-checkout", errorCode: "FLAG_NOT_FOUND", count: 2, isDeleted: true, programs },
    ]);
    assert.equal((await environment.server("GET", "/usage/errors")).status, 200);
  });
});

suite("errors", () => {
  test("of a report that failed are added to the next one, as counts are", async (t) => {
    let attempts = 0;
    const server = await scriptedServer(t, {
      [report]: (response) => {
        attempts += 1;
        return response.writeHead(attempts < 3 ? 503 : 204).end();
      },
    });
    sendFlags(server, booleanFlag("a", true));
    const { client } = clientOf(t, server.url, { reportUsage: true });
    assert.ok((await client.ready()).ok);
    client.isEnabled("gone");
    client.stringValue("gone", {}, "");
    client.stringValue("a", {}, "");
    await until("two failures", () => attempts >= 2);
    client.isEnabled("gone");
    client.isEnabled("a");
    await until("success", () => attempts >= 3);
    await client.close();
    const accepted = reportsTo(server).slice(2).flat();
    const sum = (key: string, count: (entry: Entry) => number | undefined) =>
      accepted.reduce(
        (total, entry) => total + ((entry.key === key ? count(entry) : undefined) ?? 0),
        0,
      );
    assert.equal(
      sum("gone", ({ errors }) => errors?.FLAG_NOT_FOUND),
      3,
    );
    assert.equal(
      sum("a", ({ errors }) => errors?.TYPE_MISMATCH),
      1,
    );
    assert.equal(
      sum("a", ({ on }) => on),
      1,
    );
  });

  test("before the server's flags are loaded, and of overrides, are the program's own affair", async (t) => {
    const server = await scriptedServer(t, {
      [report]: (response) => response.writeHead(204).end(),
    });
    const { lines, log } = keptLog();
    const { client } = clientOf(t, server.url, {
      reportUsage: true,
      bootstrap: [booleanFlag("a", true)],
      overrides: { size: true },
      log,
    });
    assert.equal(client.details("later").errorCode, "FLAG_NOT_FOUND");
    assert.equal(client.details("a", {}, "text").errorCode, "TYPE_MISMATCH");
    sendFlags(server, booleanFlag("later", true));
    assert.ok((await client.ready()).ok);
    assert.equal(client.isEnabled("later"), true);
    assert.equal(client.details("size", {}, "text").errorCode, "TYPE_MISMATCH");
    await client.close();
    assert.deepEqual(reportsTo(server), [[{ key: "later", on: 1, off: 0 }]]);
    assert.deepEqual(
      lines.filter(({ code }) => code === "FLAG_NOT_FOUND" || code === "TYPE_MISMATCH"),
      [],
    );
  });

  test("are counted and logged for at most 100 keys, and keys that are too long for the server are not reported", async (t) => {
    const server = await scriptedServer(t, {
      [report]: (response) => response.writeHead(204).end(),
    });
    sendFlags(server);
    const { lines, log } = keptLog();
    const { client } = clientOf(t, server.url, { reportUsage: true, log });
    assert.ok((await client.ready()).ok);
    for (const key of ["", "no key", "x".repeat(129), 7 as unknown as string]) {
      assert.equal(client.isEnabled(key), false);
    }
    for (let user = 0; user < 200; user += 1) client.isEnabled(`feature-of-user-${user}`);
    await client.close();
    const keys = reportsTo(server)
      .flat()
      .map((entry) => entry.key);
    assert.deepEqual(keys.slice(0, 4), ["", "no key", "7", "feature-of-user-0"]);
    assert.deepEqual([keys.length, lines.length], [99, 100]);
  });

  test("without usage reports are only logged, and a log that throws stops nothing", async (t) => {
    const server = await scriptedServer(t, {
      [report]: (response) => response.writeHead(204).end(),
    });
    sendFlags(server);
    let logged = 0;
    const { client } = clientOf(t, server.url, {
      log() {
        logged += 1;
        throw new Error("no log");
      },
    });
    assert.ok((await client.ready()).ok);
    assert.equal(client.isEnabled("gone", {}, true), true);
    await client.close();
    assert.deepEqual([logged, server.to(report).length], [1, 0]);
  });
});
