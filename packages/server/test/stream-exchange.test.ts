// GET /stream on the wire: who may, the bytes of the answer, and the odd ways in which a connection can be used.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { bearer, openStream, parseEvents } from "./support/event-reader.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a key is needed, and its role must be server at least", async () => {
  const { keys, admin } = await server.environment();
  const path = `${server.url}/api/v1/stream`;
  for (const [headers, status, code] of [
    [{}, 401, "UNAUTHORIZED"],
    [bearer("hal_wrong_wrong-wrong-wrong"), 401, "UNAUTHORIZED"],
    [bearer(keys.client), 403, "FORBIDDEN"],
  ] as const) {
    const answer = await fetch(path, { headers });
    assert.equal(answer.status, status);
    assert.equal(((await answer.json()) as { error: string }).error, code);
  }
  const unknown = await admin("GET", "/stream?since=3");
  assert.equal(unknown.status, 400);
  for (const headers of [{ "x-api-key": keys.server }, bearer(keys.admin)]) {
    const stream = await openStream(path, headers);
    assert.equal(stream.status, 200);
    stream.close();
  }
  const posted = await admin("POST", "/stream", {});
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get("allow"), "GET, HEAD");
});

test("HEAD answers with the same headers and ends", async () => {
  const { keys } = await server.environment();
  const answer = await fetch(`${server.url}/api/v1/stream`, {
    method: "HEAD",
    headers: bearer(keys.server),
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(answer.headers.get("content-length"), null);
  assert.equal(await answer.text(), "");
});

const exchange = (request: string) => {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const received = { text: "", ended: false };
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    received.text += text;
  });
  socket.on("close", () => {
    received.ended = true;
  });
  socket.write(request);
  return { socket, received };
};
const request = (key: string, version: string) =>
  `GET /api/v1/stream HTTP/${version}\r\nHost: halyard\r\nX-API-Key: ${key}\r\n`;

/** What the chunks carry, when they are whole and nothing stands between them; `rest` is a chunk that is still coming. */
const dechunk = (body: Buffer) => {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/.exec(body.toString("latin1", at, at + 12));
    const length = Number.parseInt(line?.[1] ?? "", 16);
    const begin = at + (line?.[0].length ?? 0);
    if (!line || begin + length + 2 > body.length) break;
    assert.equal(body.toString("latin1", begin + length, begin + length + 2), "\r\n");
    at = begin + length + 2;
    if (length === 0) break;
    parts.push(body.subarray(begin, begin + length));
  }
  return { text: Buffer.concat(parts).toString(), rest: body.toString("latin1", at) };
};

for (const version of ["1.0", "1.1"]) {
  test(`the bytes that an HTTP/${version} reader gets: head, then frames, nothing between`, async () => {
    const { keys, admin } = await server.environment();
    const { socket, received } = exchange(`${request(keys.server, version)}\r\n`);
    await until("the snapshot", () => received.text.includes("event: snapshot"));
    await admin("POST", "/flags", { key: "a", type: "boolean", description: "ä" });
    await until("the change", () => received.text.includes("event: change"));
    await admin("DELETE", "/flags/a");
    await until("the other change", () => received.text.includes('"flag":null'));
    const [head = "", body = ""] = received.text.split(/\r\n\r\n(.*)/s);
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(head, /\r\nconnection: close\r\n/i);
    assert.doesNotMatch(head, /content-length|keep-alive/i);
    const isChunked = /\r\ntransfer-encoding: chunked(\r\n|$)/i.test(head);
    assert.equal(isChunked, version === "1.1");
    const text = isChunked ? dechunk(Buffer.from(body)).text : body;
    assert.match(text, /^retry: 2000\nid: 0-0\nevent: snapshot\ndata: \{/);
    const { events, empty } = parseEvents(text);
    assert.deepEqual(
      events.map(({ event }) => event),
      ["snapshot", "change", "change"],
    );
    assert.equal(empty, 0, "an empty line ends an event and nothing else");
    socket.destroy();
  });
}

test("a stream that the server ends has its last chunk, so that its reader knows of no breakage", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/keys", { name: "short-lived", role: "server" });
  const { id, key } = made.body as { id: string; key: string };
  const { received } = exchange(`${request(key, "1.1")}\r\n`);
  await until("the snapshot", () => received.text.includes("event: snapshot"));
  await admin("DELETE", `/keys/${id}`);
  await until("the end", () => received.ended);
  const [, body = ""] = received.text.split(/\r\n\r\n(.*)/s);
  assert.match(body, /\r\n0\r\n\r\n$/);
  assert.equal(dechunk(Buffer.from(body)).rest, "");
});

test("behind another request of the same connection it begins when that one is answered", async () => {
  const { keys, admin } = await server.environment();
  const first = `POST /api/v1/flags HTTP/1.1\r\nHost: halyard\r\nX-API-Key: ${keys.admin}\r\nContent-Type: application/json\r\nContent-Length: 28\r\n\r\n{"key":"a","type":"boolean"}`;
  const { socket, received } = exchange(`${first}${request(keys.server, "1.1")}\r\n`);
  await until("both answers", () => received.text.includes("event: snapshot"));
  const [, created = "", , streamed = ""] = received.text.split(/(HTTP\/1\.1 \d{3})/);
  assert.equal(created, "HTTP/1.1 201");
  assert.equal(streamed, "HTTP/1.1 200");
  assert.match(received.text, /"revision":1,.*"key":"a"/s);
  await admin("PATCH", "/flags/a", { enabled: true });
  await until("the change", () => received.text.includes('"revision":2'));
  socket.destroy();
});

test("a reader that says nothing more and closes its side is let go", async () => {
  const { keys } = await server.environment();
  const { socket, received } = exchange(`${request(keys.server, "1.1")}\r\n`);
  await until("the snapshot", () => received.text.includes("event: snapshot"));
  socket.end();
  await until("the end", () => received.ended);
});
