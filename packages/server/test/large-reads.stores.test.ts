// Reads with large responses: bounded in bytes without losing anything, a few at a time, and environments in turn.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { after, before, test } from "node:test";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const mebibyte = 1_048_576;
/** A page ends with the entry that exceeds 8 MiB, and none here has more than one. */
const largestPage = 9 * mebibyte;
const flagCount = 90;

let server: TestServer;
let large: TestEnvironment;
before(async () => {
  server = await startTestServer();
  large = await server.environment();
  for (let index = 0; index < flagCount; index += 1) {
    const made = await large.admin("POST", "/flags", largeFlag(index));
    assert.equal(made.status, 201, made.text);
  }
});
after(() => server.close());

/** With about 120 KiB. */
const largeFlag = (index: number) => ({
  key: `flag-${String(index).padStart(3, "0")}`,
  type: "boolean",
  otherwise: "off",
  rules: Array.from({ length: 10 }, (_, rule) => ({
    id: `rule-${rule}`,
    when: {
      attribute: "plan",
      op: "in",
      values: Array.from({ length: 120 }, (_, value) => `${rule}-${value}-`.padEnd(97, "x")),
    },
    serve: "on",
  })),
});

/** Without the check against /openapi.json, which takes long for so much. */
const read = async <T>(path: string) => {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${large.keys.admin}` },
  });
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 200));
  const isPage = /[?&]limit=/.test(path);
  assert.ok(!isPage || text.length < largestPage, `${path}: ${text.length}`);
  return { entries: JSON.parse(text) as T[], link: response.headers.get("link") };
};

/** Every entry, by the Links. */
const readAll = async <T>(path: string) => {
  const entries: T[] = [];
  let pages = 0;
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Awaited<ReturnType<typeof read<T>>> = await read<T>(next);
    entries.push(...page.entries);
    pages += 1;
    next = /^<\/api\/v1(\S+)>; rel="next"$/.exec(page.link ?? "")?.[1];
  }
  return { entries, pages };
};

test("events: a page ends early, and its Link leads to the rest", async () => {
  const { entries, pages } = await readAll<{ sequence: number }>("/events?limit=1000&after=3");
  assert.deepEqual(
    entries.map(({ sequence }) => sequence),
    Array.from({ length: flagCount - 3 }, (_, index) => index + 4),
  );
  assert.ok(pages > 1);
  const since = await readAll<{ sequence: number }>("/events?limit=7&since=2020-01-01T00:00:00Z");
  assert.deepEqual([since.entries.length, since.pages], [flagCount, Math.ceil(flagCount / 7)]);

  const newest = await read<{ sequence: number }>("/events?limit=1000");
  assert.equal(newest.link, null, "there is nothing newer");
  const sequences = newest.entries.map(({ sequence }) => sequence);
  assert.ok(sequences.length < flagCount);
  assert.deepEqual(
    sequences,
    Array.from(
      { length: sequences.length },
      (_, index) => flagCount - sequences.length + index + 1,
    ),
  );
});

test("flags: all of them without a limit, and pages end early with one", async () => {
  const { entries: all } = await read<{ key: string }>("/flags");
  assert.equal(all.length, flagCount);
  assert.deepEqual((await read("/flags?type=boolean")).entries, all);
  assert.deepEqual((await read("/flags?type=rollout")).entries, []);
  const { entries, pages } = await readAll<object>("/flags?limit=1000");
  assert.deepEqual(entries, all);
  assert.ok(pages > 1);
  const one = await large.admin("GET", "/flags?limit=1&q=flag-089");
  assert.deepEqual([one.body, one.headers.get("link")], [all.slice(-1), null]);
});

test("history: pages end early", async () => {
  const { entries, pages } = await readAll<{ id: string }>("/history?limit=1000&subject=flag");
  assert.equal(new Set(entries.map(({ id }) => id)).size, flagCount);
  assert.ok(pages > 1);
});

/** A request whose response is not read, unless the test does. */
const ask = (key: string, path: string, url = server.url): ClientRequest => {
  const headers = { authorization: `Bearer ${key}` };
  const asked = request(`${url}/api/v1${path}`, { agent: false, headers });
  asked.on("error", () => undefined).end();
  return asked;
};
const answerTo = async (asked: ClientRequest): Promise<IncomingMessage> => {
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return response;
};

test("while others wait, clients that hardly read are disconnected", async (t) => {
  // A second server on the same data, which checks often.
  const settings = { HALYARD_DATA: server.folder };
  const impatient = await startTestServer(settings, { slowReadInterval: 20 });
  const neighbor = await impatient.environment();
  const asked: ClientRequest[] = [];
  t.after(async () => {
    for (const each of asked) each.destroy();
    await impatient.close();
  });
  const askLarge = (): ClientRequest => {
    const one = ask(large.keys.admin, "/events?limit=1000&after=0", impatient.url);
    asked.push(one);
    return one;
  };
  const sizeOf = async (one: ClientRequest): Promise<number> => {
    let bytes = 0;
    for await (const chunk of await answerTo(one)) bytes += (chunk as Buffer).length;
    return bytes;
  };
  // While no request waits, the server lets a client take its time.
  const whole = await sizeOf(askLarge());
  const slow = await answerTo(askLarge());
  for (let count = 0; count < 20; count += 1) await neighbor.admin("GET", "/history");
  let read = 0;
  for await (const chunk of slow) read += (chunk as Buffer).length;
  assert.equal(read, whole);

  const held = [await answerTo(askLarge()), await answerTo(askLarge())];
  // Too much for the send timeout, which disconnects clients that read nothing.
  const drip = setInterval(() => {
    for (const response of held) response.read(16_384);
  }, 100);
  assert.equal(await sizeOf(askLarge()), whole, "a request that waited got a place");
  clearInterval(drip);
  const lost = await Promise.allSettled(held.map((response) => response.toArray()));
  assert.ok(lost.some(({ status }) => status === "rejected"));
});

test("only a few are served at a time, and no environment or key blocks the others", async (t) => {
  const path = "/events?limit=1000&after=0";
  const { admin: key } = large.keys;
  const asked: ClientRequest[] = [];
  const askLarge = (by: string): ClientRequest => {
    const one = ask(by, path);
    asked.push(one);
    return one;
  };
  t.after(() => {
    for (const each of asked) each.destroy();
  });
  // An environment alone has two places, and these responses are never read.
  const held = [askLarge(key), askLarge(key)];
  for (const { statusCode } of await Promise.all(held.map(answerTo))) assert.equal(statusCode, 200);
  const neighbor = await server.environment();
  const order: ("first" | "second")[] = [];
  const rejected: IncomingMessage[] = [];
  const waitFor = (by: string, name: (typeof order)[number]): ClientRequest => {
    const one = askLarge(by);
    one.once("response", (response: IncomingMessage) => {
      if (response.statusCode === 200) order.push(name);
      else rejected.push(response);
      response.resume();
    });
    return one;
  };
  // For one key 16 can wait, and one more is rejected.
  for (let count = 0; count < 17; count += 1) waitFor(key, "first");
  await until("one is rejected", () => rejected.length > 0);
  const [{ statusCode, headers } = { statusCode: 0, headers: {} }] = rejected;
  assert.equal(statusCode, 503);
  assert.match(String(headers["retry-after"]), /^[123]$/);

  const second = waitFor(large.keys.server, "second");
  await once(second, "finish");
  const other = await neighbor.admin("GET", "/history");
  assert.equal(other.status, 200, "another environment has places of its own");
  assert.deepEqual([order, rejected.length], [[], 1], "those that wait do so");

  for (const each of held) each.destroy();
  await until("the others are answered", () => order.length === 17);
  assert.ok(order.indexOf("second") <= 4, `the keys take turns: ${order.join()}`);
});
