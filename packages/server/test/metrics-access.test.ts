// /metrics is for the operator's scraper: known by its token, or by coming from this very machine.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, suite, test } from "node:test";
import { bearer } from "./support/event-reader.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** The status for a client that calls the server so. */
const statusFor = async (url: string, host: string): Promise<number | undefined> => {
  const asking = request(`${url}/metrics`, { headers: { host }, agent: false });
  const answered = once(asking, "response") as Promise<[IncomingMessage]>;
  asking.end();
  const [response] = await answered;
  response.resume();
  return response.statusCode;
};

suite("who may see them", () => {
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/metrics`, { headers });
    const text = await response.text();
    if (response.status !== 200) assert.ok(!text.includes("halyard_"), text);
    return { status: response.status, headers: response.headers, text };
  };

  test("without a token: whoever is on this machine and comes by no proxy", async () => {
    assert.equal((await ask(server.url)).status, 200);
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host"]) {
      const { status, text } = await ask(server.url, { [name]: "127.0.0.1" });
      assert.equal(status, 403, name);
      assert.match(text, /HALYARD_METRICS_TOKEN/);
    }
    // A page whose name was made to mean this machine.
    for (const [host, status] of [
      ["pages.example", 403],
      ["localhost.pages.example", 403],
      ["127.0.0.1.pages.example:80", 403],
      ["127.0.0.1", 200],
      ["localhost:1", 200],
      ["[::1]", 200],
    ] as const) {
      assert.equal(await statusFor(server.url, host), status, host);
    }
  });

  test("with a token: whoever has it, from anywhere", async (t) => {
    const token = "scrape-me-0123456789-token";
    const guarded = await startTestServer({
      HALYARD_METRICS_TOKEN: token,
      HALYARD_AUTH_FAILURE_LIMIT: "6",
      HALYARD_TRUST_PROXY: "true",
    });
    t.after(() => guarded.close());
    const elsewhere = { "x-forwarded-for": "192.0.2.7" };
    const good = { ...elsewhere, ...bearer(token) };
    assert.equal((await ask(guarded.url, good)).status, 200);
    for (const [index, headers] of [
      {},
      { authorization: token },
      { authorization: "Bearer" },
      { "x-api-key": token },
      bearer(`${token}x`),
      bearer(token.slice(0, -1)),
    ].entries()) {
      const refused = await ask(guarded.url, { ...elsewhere, ...headers });
      assert.equal(refused.status, 401, String(index));
      assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer/);
      assert.ok(!refused.text.includes(token));
    }
    const limited = await ask(guarded.url, { ...elsewhere, ...bearer("another-guess") });
    assert.equal(limited.status, 429, "guessing is limited");
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    assert.equal((await ask(guarded.url, good)).status, 200, "who has the token is not");
  });
});
