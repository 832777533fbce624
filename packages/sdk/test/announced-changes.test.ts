// Changes that the server announces while a context client is fetching: they share the next request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../server/test/support/until.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";
import { contextClientOf } from "./support/clients.ts";

test("changes announced during a request share the next one, which names the newest", async (t) => {
  const server = await bulkServer(t);
  const timing = { requestTimeout: 3_600_000 };
  const context = { targetingKey: "ada" };
  const { client } = contextClientOf(t, server.url, { context, timing });
  await client.ready();
  await until("the request when the stream opens", () => server.to(bulk).length === 2);
  server.change({ hangs: () => true });
  await until("a request that hangs", () => server.hanging.size === 1);
  const [hanging] = server.hanging;
  server.change({});
  server.change({});
  // The end of the stream leads to a request too. It announces nothing, so it must not replace what was announced.
  for (const response of server.open) response.end();
  await until("the end of the stream", () => client.state === "stale");
  contextClientOf(t, server.url, { context: { targetingKey: "bob" }, timing });
  await until("the request of another client", () => server.hanging.size === 2);

  Object.assign(server.state, { hangs: () => false, isOn: () => true });
  hanging?.writeHead(304).end();
  await until("a is on", () => client.isEnabled("a"));
  const queries = server
    .to(bulk)
    .filter(({ body }) => body.includes("ada"))
    .map(({ url }) => new URL(url, server.url).searchParams.get("flagConfigEtag"));
  assert.deepEqual(queries.slice(0, 4), [null, null, "2-x", "4-x"]);
});
