// Reports of clients: which revision they have applied, as rarely as possible, and never before they have.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { hostname } from "node:os";
import { suite, test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import manifest from "../package.json" with { type: "json" };
import { clientOf } from "./support/clients.ts";
import {
  booleanFlag,
  changeText,
  openStream,
  type ScriptedServer,
  scriptedServer,
  sendJson,
  snapshotOf,
  snapshotText,
} from "./support/scripted-server.ts";

const route = "POST /api/v1/clients";
const taken = (response: ServerResponse) => response.writeHead(204).end();
/** None of the reports that come by the clock. */
const unhurried = { usageInterval: 3_600_000 };

interface Report {
  readonly id: string;
  readonly name: string;
  readonly sdk: string;
  readonly revision: string;
  readonly leaving?: boolean;
}
const reportsTo = (server: ScriptedServer): Report[] =>
  server.to(route).map(({ body }) => JSON.parse(body) as Report);

suite("what was applied", () => {
  test("is reported after a snapshot, once for changes that arrive together, after a reconnection, and at the end", async (t) => {
    let stream: ServerResponse | undefined;
    /** Milliseconds from one answer to the next report. */
    const pauses: number[] = [];
    let answeredAt = 0;
    const server = await scriptedServer(t, {
      [route]: (response) => {
        pauses.push(performance.now() - answeredAt);
        taken(response);
        answeredAt = performance.now();
      },
      "GET /api/v1/stream": (response, { headers }) => {
        openStream(response);
        stream = response;
        response.write(
          headers["last-event-id"] === undefined
            ? snapshotText("1-a", booleanFlag("x", false))
            : ":\n",
        );
      },
    });
    const { client } = clientOf(t, server.url, { reportApplied: true, timing: unhurried });
    await until("the first", () => reportsTo(server).length === 1);
    const [first] = reportsTo(server);
    assert.equal(first?.name, `${hostname()} ${process.pid}`);
    assert.equal(first?.sdk, `js/${manifest.version}`);
    assert.equal(first?.revision, "1-a");
    assert.match(first?.id ?? "", /^[0-9a-f]{24}$/);
    assert.equal(server.to("GET /api/v1/stream")[0]?.headers["x-halyard-client"], first?.id);

    const changes = Array.from({ length: 40 }, (_, index) =>
      changeText(`${index + 2}-b`, "x", booleanFlag("x", index === 39)),
    );
    stream?.write(changes.join(""));
    await until("the last", () => reportsTo(server).at(-1)?.revision === "41-b");
    assert.equal(client.isEnabled("x"), true);
    const { length } = reportsTo(server);
    assert.ok(length < 10, `changes that arrive together share a report, not ${length} reports`);

    server.cut();
    await until("once more", () => reportsTo(server).length > length);
    assert.equal(reportsTo(server).at(-1)?.revision, "41-b", "another instance may know nothing");
    // A timer may be a moment early.
    assert.ok(Math.min(...pauses.slice(1)) > 245, `four times a second at most: ${pauses.join()}`);
    await client.close();
    assert.deepEqual(reportsTo(server).at(-1), { ...first, revision: "41-b", leaving: true });
    assert.equal(new Set(reportsTo(server).map(({ id }) => id)).size, 1);
  });

  test("of a client that polls has its id too, and its name is as the server takes it", async (t) => {
    const server = await scriptedServer(t, {
      [route]: taken,
      "GET /api/v1/snapshot": (response) => {
        response.setHeader("etag", 'W/"7-abc"');
        sendJson(response, 200, snapshotOf(booleanFlag("x", true)));
      },
    });
    const name = ` shop\n${"é".repeat(200)}`;
    clientOf(t, server.url, { reportApplied: true, streaming: false, name, timing: unhurried });
    await until("the report", () => reportsTo(server).length > 0);
    const [report] = reportsTo(server);
    assert.deepEqual([report?.name, report?.revision], [`shop ${"é".repeat(123)}`, "7-abc"]);
    const [poll] = server.to("GET /api/v1/snapshot");
    assert.equal(poll?.headers["x-halyard-client"], report?.id);
  });

  test("goes with usage; after a rejection, no report of its own is sent for a while", async (t) => {
    for (const status of [204, 404]) {
      const server = await scriptedServer(t, {
        [route]: (response) => response.writeHead(status).end(),
        "POST /api/v1/usage": taken,
        "GET /api/v1/stream": (response) => {
          openStream(response);
          response.write(snapshotText("1-a", booleanFlag("x", true)));
        },
      });
      const { client } = clientOf(t, server.url, {
        ...{ reportApplied: true, reportUsage: true },
        timing: { maximumDelay: 3_600_000 },
      });
      const usage = () =>
        server.to("POST /api/v1/usage").map(({ body }) => JSON.parse(body) as { client?: Report });
      await client.ready();
      await until("several reports of usage", () => {
        client.isEnabled("x");
        return usage().length > 3;
      });
      assert.deepEqual([...new Set(usage().map((sent) => sent.client?.revision))], ["1-a"]);
      await client.close();
      if (status === 404) assert.equal(reportsTo(server).length, 1);
    }
  });

  test("is reported again after a failure, and not at all if it is turned off", async (t) => {
    const answers = [503, 0, 429, 408];
    const serve = (response: ServerResponse) => {
      openStream(response);
      response.write(snapshotText("1-a"));
    };
    const server = await scriptedServer(t, {
      [route]: (response) => {
        const status = answers.shift();
        return status === 0 ? response.destroy() : response.writeHead(status ?? 204).end();
      },
      "GET /api/v1/stream": serve,
    });
    clientOf(t, server.url, { reportApplied: true, timing: unhurried });
    await until("five attempts", () => reportsTo(server).length === 5);
    const silent = await scriptedServer(t, { [route]: taken, "GET /api/v1/stream": serve });
    const { client } = clientOf(t, silent.url, { reportApplied: false });
    await client.ready();
    await client.close();
    assert.equal(silent.to(route).length, 0);
    assert.equal(silent.to("GET /api/v1/stream")[0]?.headers["x-halyard-client"], undefined);
  });
});
