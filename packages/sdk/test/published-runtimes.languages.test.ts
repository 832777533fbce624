// The package in every runtime that it is for: each evaluates, follows a change, and survives a restart of the server. It loads the
// runtimes from the registry.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createManagement } from "@halyard/sdk/management";
import { newFolder, startTestServer, type TestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { installed, type Published, publish } from "./support/published.ts";
import { type Row, runtimes, startWorker, workerd } from "./support/runtimes.ts";

suite("in every runtime", () => {
  const folder = newFolder();
  let published: Published;
  let server: TestServer;
  before(async () => {
    published = publish();
    server = await startTestServer({ HALYARD_DATA: folder });
  });
  const table: string[] = [];
  after(async () => {
    await server.close();
    published.remove();
    console.log(
      ["| runtime | change seen after | and after a restart |", "| - | - | - |", ...table].join(
        "\n",
      ),
    );
  });

  /** Milliseconds until the program has this value; the first answer has to have it where flags are loaded for each request. */
  const seen = async (row: Row, isOn: boolean): Promise<number> => {
    const started = performance.now();
    if (row.perRequest) assert.equal(await row.ask(), isOn, row.name);
    else await until(row.name, async () => (await row.ask()) === isOn);
    return performance.now() - started;
  };

  for (const { name, packages, start } of runtimes) {
    test(name, async (t) => {
      const project = await installed(t, published, ...packages);
      if (project === undefined) return;
      const { keys } = await server.environment();
      const { flags } = createManagement({ url: server.url, key: keys.admin });
      await flags.create({ key: "new-checkout", type: "boolean" });
      const set = async (enabled: boolean) => {
        assert.ok((await flags.update("new-checkout", { enabled })).ok);
      };
      const settings = { url: server.url, serverKey: keys.server, clientKey: keys.client };
      const rows = await start(t, project, settings);
      for (const row of rows) await until(row.name, async () => (await row.ask()) === false);

      await set(true);
      const changed = await Promise.all(rows.map((row) => seen(row, true)));

      await server.close();
      for (const row of rows)
        assert.equal(await row.ask(), true, `${row.name}, without the server`);
      server = await startTestServer({ HALYARD_DATA: folder, PORT: new URL(server.url).port });
      await set(false);
      const restarted = await Promise.all(rows.map((row) => seen(row, false)));

      for (const [index, row] of rows.entries()) {
        const cells = [changed[index], restarted[index]].map((ms) => `${(ms ?? 0).toFixed(0)} ms`);
        table.push(`| ${[row.name, ...cells].join(" | ")} |`);
      }
    });
  }

  test("workerd: the client for programs warns once in a Worker, and doesn't start at its top level", async (t) => {
    const project = await installed(t, published, ...workerd.packages);
    if (project === undefined) return;
    const { keys } = await server.environment();
    const options = JSON.stringify({ url: server.url, key: keys.server });
    const worker = await startWorker(
      t,
      project,
      `import { createClient } from "@halyard/sdk";
      const outside = createClient({ ...${options}, sampleContexts: true });
      const local = createClient({ overrides: { a: true } });
      export default {
        async fetch() {
          const inside = createClient(${options});
          const ready = [(await outside.ready()).error?.code, outside.state, (await inside.ready()).ok];
          await inside.close();
          return Response.json([...ready, local.isEnabled("a")]);
        },
      };`,
    );
    for (const answer of [await worker.ask(), await worker.ask()]) {
      assert.deepEqual(JSON.parse(answer), ["UNSUPPORTED_RUNTIME", "failed", true, true]);
    }
    const warnings = await until("the warnings", () => {
      const lines = worker
        .printed()
        .split("\n")
        .filter((line) => line.startsWith("Halyard: "));
      return lines.length > 1 && lines;
    });
    const advice =
      "use createEdgeClient of @halyard/sdk/edge. The last known values or the fallbacks apply.";
    assert.deepEqual(warnings, [
      `Halyard: this runtime doesn't let a client start outside of a request: ${advice}`,
      `Halyard: this runtime stops timers and connections when a request ends, so a client that lives longer misses changes: ${advice}`,
    ]);
  });
});
