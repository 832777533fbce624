// Fetches of the values of one context: calls that come during a request share the next one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBulkEvaluation } from "../src/browser-client/bulk-evaluation.ts";
import { serverAt } from "../src/transport/address.ts";
import { bulk, bulkServer } from "./support/bulk-server.ts";

test("a request that waits keeps what was announced when another joins it", async (t) => {
  const server = await bulkServer(t);
  const context = { targetingKey: "ada" };
  const evaluation = createBulkEvaluation({
    server: serverAt({ url: server.url, key: "hal_key" }),
    timeout: 60_000,
    signal: new AbortController().signal,
    context,
    onResponse: () => {},
    onSettled: () => {},
  });
  await Promise.all([
    evaluation.fetch(),
    evaluation.fetch({ etag: "7-x" }),
    evaluation.fetch(),
    evaluation.fetch({ etag: "8-x" }),
    evaluation.fetch(),
  ]);
  assert.deepEqual(
    server.to(bulk).map(({ url }) => new URL(url, server.url).search),
    ["", "?flagConfigEtag=8-x"],
  );
});
