// The dashboard's page and files as they are served: headers, nonces, compression, caching, and what is not there.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { assertRefused } from "./support/answers.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const script = `console.log("${"halyard ".repeat(100)}");`;
const tarball = gzipSync("the package of the SDK");
const page = '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><p>the page</p>';
const pages = [
  "/",
  "/flags",
  "/flags/new-checkout",
  "/flags/a.b",
  "/segments",
  "/segments/beta-testers",
  "/webhooks",
  "/webhooks/wh_1",
  "/keys",
  "/events",
  "/segments",
  "/segments/beta",
  "/compare",
  "/history?deleted=1",
  "/deleted-flags",
  "/sign-in",
  "/sign-in?link=expired",
  "/flags?q=x",
  "/environments/production",
  "/environments/production/flags/new-checkout",
];

let folder: string;
let server: TestServer;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "halyard-dashboard-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), page);
  writeFileSync(join(folder, "assets/index-1.js"), script);
  writeFileSync(join(folder, "assets/index-1.js.br"), brotliCompressSync(script));
  writeFileSync(join(folder, "assets/index-1.js.gz"), gzipSync(script));
  writeFileSync(join(folder, "assets/index-2.css"), "p { color: red }");
  writeFileSync(join(folder, "secret.txt"), "not to be served");
  mkdirSync(join(folder, "sdk"));
  writeFileSync(join(folder, "sdk/halyard-sdk-1.0.0.tgz"), tarball);
  server = await startTestServer({}, { dashboardFolder: folder });
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(server.url + path, { method, headers, redirect: "manual" });

const nonceOf = (text: string): string => /content="([^"]*)"/.exec(text)?.[1] ?? "";

test("every page of the dashboard is the same page, under a strict policy with a nonce of its own", async () => {
  const nonces = new Set<string>();
  for (const path of pages) {
    const answer = await ask(path);
    const text = await answer.text();
    assert.equal(answer.status, 200, path);
    const nonce = nonceOf(text);
    assert.match(nonce, /^[A-Za-z0-9+/]{22}==$/);
    nonces.add(nonce);
    assert.equal(text, page.replace("__CSP_NONCE__", nonce));
    const { headers } = answer;
    assert.equal(
      headers.get("content-security-policy"),
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    const told = Object.entries({
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
    });
    for (const [name, value] of told) assert.equal(headers.get(name), value, `${path} ${name}`);
  }
  assert.equal(nonces.size, pages.length);
});

test("a page that the browser has is not sent again, nor a policy with another nonce", async () => {
  const first = await ask("/");
  const tag = first.headers.get("etag") ?? "";
  assert.match(tag, /^"[\w-]{22}"$/);
  for (const header of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
    const answer = await ask("/keys", { "if-none-match": header });
    assert.deepEqual([answer.status, await answer.text()], [304, ""], header);
    // It would not fit the nonce in the page that the browser has kept.
    assert.equal(answer.headers.get("content-security-policy"), null);
  }
  assert.equal((await ask("/", { "if-none-match": '"other"' })).status, 200);
});

test("HEAD answers as GET would, without a body", async () => {
  for (const path of ["/", "/flags/a", "/sign-in", "/assets/index-1.js"]) {
    const answer = await ask(path, {}, "HEAD");
    assert.deepEqual([answer.status, await answer.text()], [200, ""], path);
    assert.ok(Number(answer.headers.get("content-length")) > 0, path);
  }
});

test("files are kept for ever, and sent as small as the client takes them", async () => {
  for (const [accepted, encoding, length] of [
    ["br, gzip", "br", brotliCompressSync(script).length],
    ["gzip, deflate, br;q=0.5", "br", brotliCompressSync(script).length],
    ["gzip", "gzip", gzipSync(script).length],
    ["GZIP;q=1", "gzip", gzipSync(script).length],
    ["br;q=0, gzip;q=0.1", "gzip", gzipSync(script).length],
    ["br;q=0.0, gzip; q=0", null, script.length],
    ["identity", null, script.length],
    ["brotli", null, script.length],
  ] as const) {
    const answer = await ask("/assets/index-1.js", { "accept-encoding": accepted });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-encoding"), encoding, accepted);
    assert.equal(Number(answer.headers.get("content-length")), length, accepted);
    assert.equal(answer.headers.get("vary"), "accept-encoding");
    assert.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(answer.headers.get("content-type"), "text/javascript; charset=utf-8");
    assert.equal(await answer.text(), script, accepted);
  }
  const style = await ask("/assets/index-2.css", { "accept-encoding": "br, gzip" });
  assert.equal(style.headers.get("content-encoding"), null, "there is no smaller one");
  assert.equal(style.headers.get("content-type"), "text/css; charset=utf-8");
  const tag = style.headers.get("etag") ?? "";
  assert.equal((await ask("/assets/index-2.css", { "if-none-match": tag })).status, 304);
});

test("the package of the SDK is there for npm, without a key, and asked for again only when it is another", async () => {
  const path = "/sdk/halyard-sdk-1.0.0.tgz";
  const answer = await ask(path);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/gzip");
  assert.equal(answer.headers.get("content-encoding"), null, "npm reads the file itself");
  assert.equal(answer.headers.get("cache-control"), "public, no-cache");
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), tarball);
  const tag = answer.headers.get("etag") ?? "";
  assert.equal((await ask(path, { "if-none-match": tag })).status, 304);
  assert.equal((await ask(path, { "if-none-match": '"another"' })).status, 200);
});

test("what is not there is 404 in JSON, and nothing outside of the files can be had", async () => {
  for (const path of [
    "//assets/index-9.js",
    "//assets/",
    "//assets",
    "//assets/index-1.js.br",
    "//assets/../secret.txt",
    "//assets/..%2fsecret.txt",
    "//assets/%2e%2e%2fsecret.txt",
    "//sdk/halyard-sdk-0.9.0.tgz",
    "//sdk/..%2fsecret.txt",
    "//secret.txt",
    "//index.html",
    "//favicon.ico",
    "//nothing",
    "//flags/a/b",
    "//api/v1/nothing",
  ]) {
    const answer = await server.anonymous("GET", path);
    assertRefused(answer, 404);
    assert.equal(answer.headers.get("cache-control"), "no-store", path);
  }
  const post = await server.anonymous("POST", "//flags", {});
  assertRefused(post, 405);
  assert.equal(post.headers.get("allow"), "GET, HEAD");
});

test("a file that is gone since the start is 404, which no cache keeps; one that was read is still served", async (t) => {
  const own = mkdtempSync(join(tmpdir(), "halyard-dashboard-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  for (const part of ["assets", "sdk"]) mkdirSync(join(own, part));
  writeFileSync(join(own, "index.html"), page);
  const names = ["assets/read.js", "assets/unread.js", "sdk/unread.tgz"];
  for (const name of names) writeFileSync(join(own, name), script);
  const other = await startTestServer({}, { dashboardFolder: own });
  t.after(() => other.close());
  assert.equal((await other.anonymous("GET", "//assets/read.js")).text, script);
  for (const name of names) rmSync(join(own, name));
  assert.equal((await other.anonymous("GET", "//assets/read.js")).text, script);
  for (const name of names.slice(1)) {
    const answer = await other.anonymous("GET", `//${name}`);
    assertRefused(answer, 404);
    assert.doesNotMatch(answer.headers.get("cache-control") ?? "", /immutable|public/);
  }
});

test("a browser at an address that does not exist gets the page with status 404", async () => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  for (const path of ["/nothing", "/flags/a/b", "/index.html"]) {
    const answer = await ask(path, { accept });
    assert.equal(answer.status, 404, path);
    assert.match(await answer.text(), /the page/);
    assert.match(answer.headers.get("content-security-policy") ?? "", /'nonce-/);
  }
  for (const path of [
    "/api/v1/nothing",
    "/ofrep/v1/nothing",
    "/assets/nothing.js",
    "/sdk/nothing.tgz",
  ]) {
    const answer = await ask(path, { accept });
    assert.equal(answer.status, 404, path);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, path);
  }
});

test("what else is served stays what it was", async () => {
  assert.equal((await ask("/healthz")).status, 200);
  assert.match((await ask("/openapi.json")).headers.get("content-type") ?? "", /json/);
  const document = (await (await ask("/openapi.json")).json()) as { paths: object };
  for (const path of Object.keys(document.paths)) assert.doesNotMatch(path, /session|sign-in|\*/);
  assert.match(await (await ask("/docs")).text(), /swagger/i);
  assert.equal((await ask("/api/v1/flags")).status, 401);
});

test("a dashboard that is not built says how to build it", async (t) => {
  const bare = await startTestServer({}, { dashboardFolder: join(folder, "nowhere") });
  t.after(() => bare.close());
  for (const path of ["/", "/flags/a", "/sign-in"]) {
    const answer = await fetch(bare.url + path);
    assert.equal(answer.status, 503);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
    assert.match(await answer.text(), /npm run build/);
  }
  assertRefused(await bare.anonymous("GET", "//assets/index-1.js"), 404);
  const { keys } = await bare.environment();
  assert.equal((await bare.anonymous("POST", "//session", { key: keys.admin })).status, 200);
});
