// The delivery log over real HTTP: every attempt with its outcome, filters, pages, one delivery alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused, nextPath } from "./support/answers.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
  type ShownDelivery,
  wasAttempted,
} from "./support/delivery-log.ts";
import { minute, movableClock } from "./support/movable-clock.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("an attempt says when, what came back and how long it took; a retry is added to it", async (t) => {
  const receiver = await startReceiver(() => ({ status: 500, body: "é".repeat(2_000) }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const began = clock.clock().getTime();
  const flag = await createFlag(admin);
  const [failed] = await logWhen(admin, id, 1, wasAttempted);
  assert.ok(failed);
  const [attempt] = failed.attempts;
  assert.ok(attempt);
  const sent = receiver.received[0];
  assert.deepEqual(failed, {
    id: sent?.headers["x-service-delivery"],
    kind: "event",
    state: "pending",
    event: {
      id: sent?.headers["webhook-id"],
      type: "flag.created",
      sequence: 1,
      flagKey: flag,
    },
    createdAt: failed.createdAt,
    settledAt: null,
    nextAttemptAt: failed.nextAttemptAt,
    behind: null,
    attempts: [
      {
        at: attempt.at,
        status: 500,
        error: "answered 500",
        milliseconds: attempt.milliseconds,
        response: "é".repeat(512),
      },
    ],
  });
  for (const time of [failed.createdAt, failed.nextAttemptAt, attempt.at]) {
    assert.match(time ?? "", isTime);
  }
  assert.ok(
    Date.parse(attempt.at) >= began && Date.parse(attempt.at) >= Date.parse(failed.createdAt),
  );
  assert.ok(attempt.milliseconds >= 0 && attempt.milliseconds < 15_000);
  const pause =
    Date.parse(failed.nextAttemptAt ?? "") - Date.parse(attempt.at) - attempt.milliseconds;
  assert.ok(pause >= 3_990 && pause <= 8_000, `the next attempt after ${pause} ms`);

  // What PostgreSQL's text escapes are written with comes back too.
  receiver.answer(() => ({ status: 201, body: "thanks \u001a0" }));
  clock.forward(minute);
  const [done] = await logWhen(admin, id, 1, isDelivered);
  assert.ok(done);
  assert.deepEqual([done.nextAttemptAt, done.attempts.length], [null, 2]);
  assert.match(done.settledAt ?? "", isTime);
  assert.deepEqual(done.attempts[0], attempt, "what was written stays");
  const { status, error, response } = done.attempts[1] ?? {};
  assert.deepEqual([status, error, response], [201, null, "thanks \u001a0"]);
  const [first, second] = receiver.received;
  assert.deepEqual(second?.body, first?.body);
  for (const header of ["webhook-id", "x-service-delivery", "x-service-event"]) {
    assert.equal(second?.headers[header], first?.headers[header], "the same on every retry");
  }
  assert.notEqual(second?.headers["webhook-timestamp"], first?.headers["webhook-timestamp"]);
});

test("the log is newest first, can be narrowed by state and flag, and comes in pages", async (t) => {
  const failing = new Set<string>();
  const receiver = await startReceiver(({ body }) => {
    const event = JSON.parse(body.toString()) as { data: { flag: { key: string } } };
    return { status: failing.has(event.data.flag.key) ? 503 : 204 };
  });
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const other = await register(admin, receiver.url, ["flag.deleted"]);
  for (const key of ["a", "b", "c"]) await createFlag(admin, key);
  await logWhen(admin, id, 3, isDelivered);
  failing.add("b");
  for (const key of ["a", "b", "c"]) await patchFlag(admin, key, { enabled: true });
  const log = await logWhen(admin, id, 6, wasAttempted);
  assert.deepEqual(
    log.map(({ event }) => event.sequence),
    [6, 5, 4, 3, 2, 1],
  );
  assert.deepEqual(await readLog(admin, other.id), []);

  const sequences = async (query: string) =>
    (await readLog(admin, id, query)).map(({ event }) => event.sequence);
  assert.deepEqual(await sequences("?state=pending"), [5]);
  assert.deepEqual(await sequences("?state=delivered"), [6, 4, 3, 2, 1]);
  assert.deepEqual(await sequences("?state=failed"), []);
  assert.deepEqual(await sequences("?flag=b"), [5, 2]);
  assert.deepEqual(await sequences("?flag=b&state=delivered"), [2]);
  assert.deepEqual(await sequences("?flag=B"), []);
  assert.deepEqual(await sequences("?limit=2"), [6, 5]);

  for (const [query, expected] of [
    ["?limit=2", [6, 5, 4, 3, 2, 1]],
    ["?limit=3", [6, 5, 4, 3, 2, 1]],
    ["?limit=2&state=delivered", [6, 4, 3, 2, 1]],
    ["?limit=1&flag=b", [5, 2]],
  ] as const) {
    const pages: (number | null)[] = [];
    let path: string | undefined = `/webhooks/${id}/deliveries${query}`;
    for (let count = 0; path !== undefined; count += 1) {
      assert.ok(count < 7, "the pages come to an end");
      const answer = await admin("GET", path);
      pages.push(...(answer.body as ShownDelivery[]).map(({ event }) => event.sequence));
      path = nextPath(answer);
    }
    assert.deepEqual(pages, expected, query);
  }
});

test("what the log cannot be asked for is refused by name", async () => {
  const { admin } = await server.environment();
  const { id } = await register(admin, "http://127.0.0.1:9/");
  for (const [query, word] of [
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=x", "limit"],
    ["state=lost", "state"],
    ["state=", "state"],
    ["cursor=nonsense", "cursor"],
    ["cursor=", "cursor"],
    [`cursor=${Buffer.from("dlv_' or 1=1").toString("base64url")}`, "cursor"],
    [`flag=${"x".repeat(129)}`, "flag"],
    ["page=2", "page"],
  ] as const) {
    assertRefused(await admin("GET", `/webhooks/${id}/deliveries?${query}`), 400, word);
  }
});

test("one delivery is shown alone; that of another webhook or environment is not there", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const [here, there] = [await server.environment(), await server.environment()];
  const mine = await register(here.admin, receiver.url);
  const beside = await register(here.admin, receiver.url, ["flag.deleted"]);
  const foreign = await register(there.admin, receiver.url);
  await createFlag(here.admin);
  const [delivery] = await logWhen(here.admin, mine.id, 1, isDelivered);
  assert.ok(delivery);
  const path = (webhook: string, id: string) => `/webhooks/${webhook}/deliveries/${id}`;
  const alone = await here.admin("GET", path(mine.id, delivery.id));
  const { request, ...rest } = alone.body as ShownDelivery & { request: ShownRequest };
  assert.deepEqual([alone.status, rest], [200, delivery]);
  const sent = receiver.received[0];
  assert.ok(sent);
  assert.deepEqual(
    { method: request.method, url: request.url, body: request.body },
    { method: sent.method, url: receiver.url, body: sent.body.toString() },
  );
  const sentHeaders = Object.keys(request.headers).map((name) => [
    name,
    sent.rawHeaders[sent.rawHeaders.indexOf(name) + 1],
  ]);
  assert.deepEqual(request.headers, Object.fromEntries(sentHeaders));
  assert.equal(sentHeaders.length, 4);
  for (const id of ["dlv_00", "nonsense", "a b", delivery.event.id]) {
    const answer = await here.admin("GET", path(mine.id, encodeURIComponent(id)));
    assertRefused(answer, 404, `"${id}"`);
  }
  assertRefused(await here.admin("GET", path(beside.id, delivery.id)), 404, delivery.id);
  assertRefused(await there.admin("GET", path(foreign.id, delivery.id)), 404, delivery.id);
  assertRefused(await there.admin("GET", path(mine.id, delivery.id)), 404, mine.id);
  assertRefused(await there.server("GET", path(mine.id, delivery.id)), 404, mine.id);
  assertRefused(await here.client("GET", path(mine.id, delivery.id)), 403, "role server");
});

test("a server key reads webhooks and deliveries without what may be secret", async (t) => {
  const receiver = await startReceiver(() => ({ status: 200, body: "it says secret-answer" }));
  t.after(() => receiver.close());
  const { admin, server: reader } = await server.environment();
  const { origin } = new URL(receiver.url);
  const { id } = await register(admin, `${origin}/secret-path?token=secret-query`);
  const bare = await register(admin, `${origin}/`);
  await admin("PATCH", `/webhooks/${bare.id}`, { active: false });
  await createFlag(admin, "a");
  const [delivery] = await logWhen(admin, id, 1, isDelivered);
  const [attempt] = delivery?.attempts ?? [];
  assert.match(String(attempt?.response), /secret-answer/);
  const whole = await admin("GET", `/webhooks/${id}`);
  assert.match(whole.text, /secret-path\?token=secret-query/);

  const read = async (path: string) => {
    const answer = await reader("GET", path);
    assert.equal(answer.status, 200, answer.text);
    assert.doesNotMatch(answer.text, /secret-/, path);
    return answer.body;
  };
  const url = `${origin}/…`;
  const webhook = { ...(whole.body as object), url };
  assert.deepEqual(await read(`/webhooks/${id}`), webhook);
  const [first, second] = (await read("/webhooks")) as { url: string }[];
  assert.deepEqual([first, second?.url], [webhook, origin]);
  const withoutAnswer = { ...delivery, attempts: [{ ...attempt, response: null }] };
  assert.deepEqual(await read(`/webhooks/${id}/deliveries`), [withoutAnswer]);
  const one = await read(`/webhooks/${id}/deliveries/${delivery?.id}`);
  assert.partialDeepStrictEqual(one, { ...withoutAnswer, request: { url } });
  const history = (await read("/history?subject=webhook")) as { before: unknown; after: unknown }[];
  assert.partialDeepStrictEqual(history.at(-1), { before: null, after: { id, url } });
  assert.partialDeepStrictEqual(history[0], { before: { url: origin }, after: { url: origin } });
  await read("/history");
  await read(`/webhooks/${id}/health`);

  for (const [method, path] of [
    ["PATCH", `/webhooks/${id}`],
    ["DELETE", `/webhooks/${id}`],
    ["POST", `/webhooks/${id}/test`],
    ["POST", `/webhooks/${id}/retry`],
    ["POST", `/webhooks/${id}/deliveries/${delivery?.id}/replay`],
    ["GET", "/keys"],
  ] as const) {
    assertRefused(await reader(method, path), 403, "role admin");
  }
});
