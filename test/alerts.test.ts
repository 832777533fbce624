// deploy/prometheus/alerts.yaml: the server has the metrics of the alerts, and the documents name them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { parseScrape } from "../packages/server/test/support/scrape.ts";
import { startTestServer } from "../packages/server/test/support/server.ts";
import { read } from "./support/pages.ts";

const alerts = "deploy/prometheus/alerts.yaml";
const page = "docs/operate/monitoring.md";
const { groups } = parse(read(alerts)) as {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

test("the server has the metrics and labels of every alert", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const scraped = parseScrape(await (await fetch(`${server.url}/metrics`)).text());
  for (const { alert, expr } of rules) {
    // Prometheus itself adds this metric for every target.
    if (expr.startsWith("up{")) continue;
    const [, name = "", selector = ""] = /\b(halyard_\w+)(?:\{(.*?)\})?/.exec(expr) ?? [];
    assert.ok(scraped.names.has(name), `${alert}: ${name}`);
    for (const [, label = "", operator = "", value = ""] of selector.matchAll(
      /(\w+)(=~?)"(.*?)"/g,
    )) {
      const values = [...scraped.labelValues(name, label)];
      const pattern = operator === "=~" ? new RegExp(`^(?:${value})$`) : undefined;
      assert.ok(
        values.some((each) => pattern?.test(each) ?? each === value),
        `${alert}: no ${label} ${value}`,
      );
    }
  }
});

test(`${page} lists every alert, and no others`, () => {
  const listed = [...read(page).matchAll(/^\| `(Halyard\w+)` /gm)].map(([, name]) => name);
  assert.deepEqual(
    listed,
    rules.map(({ alert }) => alert),
  );
});
