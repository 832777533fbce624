// The page that shows the description of the API: everything it loads is served from here.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** Addresses that a browser loads because of this text, resolved against where the text came from. */
const loadedBy = (type: string, text: string, from: string): URL[] => {
  const patterns = type.startsWith("text/html")
    ? [/<(?:script|img|iframe)[^>]+src="([^"]+)"/g, /<link[^>]+href="([^"]+)"/g]
    : type.startsWith("text/css")
      ? [/url\(\s*["']?([^"')]+)/g, /@import\s+["']([^"']+)/g]
      : [];
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(([, address = ""]) => new URL(address, from))
    .filter(({ protocol }) => protocol !== "data:");
};

test("/docs and everything that it loads come from this server", async () => {
  for (const start of ["/docs", "/docs/"]) {
    const waiting = [new URL(start, server.url)];
    const seen = new Set<string>();
    for (const url of waiting) {
      assert.equal(url.origin, server.url, `${url.href} is loaded from elsewhere`);
      if (seen.has(url.href)) continue;
      seen.add(url.href);
      const response = await fetch(url);
      assert.equal(response.status, 200, url.href);
      const type = response.headers.get("content-type") ?? "";
      waiting.push(...loadedBy(type, await response.text(), url.href));
    }
    assert.ok(seen.size >= 6, [...seen].join());
    assert.ok([...seen].some((href) => href.endsWith(".css")));
    assert.ok([...seen].some((href) => href.endsWith("start.js")));
  }
  const settings = await server.anonymous("GET", "//docs/static/start.js");
  assert.match(settings.text, /validatorUrl: null/);
  assert.match(settings.text, /url: "\/docs\/json"/);
  const document = await server.anonymous("GET", "//openapi.json");
  assert.equal((await server.anonymous("GET", "//docs/json")).text, document.text);
  assert.deepEqual(parse(await (await fetch(`${server.url}/docs/yaml`)).text()), document.body);
});

test("the page may load nothing from elsewhere, and works over plain http", async () => {
  for (const path of ["//docs", "//docs/", "//docs/static/start.js"]) {
    const { headers } = await server.anonymous("GET", path);
    const policy = headers.get("content-security-policy") ?? "";
    const directives = policy.split(";").map((part) => part.trim().split(/\s+/));
    const named = Object.fromEntries(directives.map(([name = "", ...sources]) => [name, sources]));
    assert.deepEqual(named["default-src"], ["'self'"], path);
    assert.deepEqual(named["frame-ancestors"], ["'none'"], path);
    assert.deepEqual(named["object-src"], ["'none'"], path);
    assert.ok(!("upgrade-insecure-requests" in named), path);
    for (const source of Object.values(named).flat()) {
      assert.ok(["'self'", "'none'", "data:"].includes(source), `${path}: ${source}`);
    }
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  }
});

test("its files are kept by browsers and asked for again only when the server is another", async () => {
  const url = `${server.url}/docs/static/swagger-ui-bundle.js`;
  const first = await fetch(url);
  assert.equal(first.headers.get("cache-control"), "public, no-cache");
  const tag = first.headers.get("etag") ?? "";
  assert.ok((await first.arrayBuffer()).byteLength > 1_000_000);
  const again = await fetch(url, { headers: { "if-none-match": tag } });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
  assert.equal((await fetch(`${server.url}/docs/static/csp.json`)).status, 404);
});
