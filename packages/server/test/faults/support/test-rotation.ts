// A secret is rotated while events flow: a receiver that knows the old one and one that knows the new both go on checking.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import { assertRefused } from "../../support/answers.ts";
import type { Api } from "../../support/api.ts";
import { readRows } from "../../support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  register,
} from "../../support/delivery-log.ts";
import { day, minute, movableClock } from "../../support/movable-clock.ts";
import {
  type Received,
  type ScriptedReceiver,
  startReceiver,
} from "../../support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../support/server.ts";
import { until } from "../../support/until.ts";

export const testRotation = ({
  eventsEachPhase,
  awaitsRemoval,
}: {
  readonly eventsEachPhase: number;
  readonly awaitsRemoval: boolean;
}): void => {
  const clock = movableClock();
  let server: TestServer;
  before(async () => {
    server = await startTestServer({}, { clock: clock.clock });
  });
  after(() => server.close());

  type Check = (request: Received) => Promise<boolean>;

  /** Whether a receiver that knows this secret believed the request when it came, by its standard headers or by its plain one. */
  const believes =
    (secret: string, scheme: "standard" | "plain"): Check =>
    async ({ headers, body }) => {
      const sent = Object.entries(headers as Record<string, string>);
      const seen = sent.filter(([name]) => name.startsWith("webhook-") === (scheme === "standard"));
      const now = () => new Date(Number(headers["webhook-timestamp"]) * 1_000);
      try {
        await verifyWebhook(body, Object.fromEntries(seen), secret, { now, scheme });
        return true;
      } catch {
        return false;
      }
    };

  /** Changes flags without a pause until told to stop. */
  const flowOf = async (admin: Api) => {
    const keys = await Promise.all(Array.from({ length: 6 }, () => createFlag(admin)));
    let flowing = true;
    const done = Promise.all(
      keys.map(async (key) => {
        for (let enabled = true; flowing; enabled = !enabled)
          await patchFlag(admin, key, { enabled });
      }),
    );
    return async () => {
      flowing = false;
      await done;
    };
  };

  const more = (receiver: ScriptedReceiver, from: number) =>
    until("more events", () => receiver.received.length >= from + eventsEachPhase);

  const rotate = async (admin: Api, id: string, body?: object) => {
    const answer = await admin("POST", `/webhooks/${id}/secret/rotate`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as { secret: string; previousSecretValidUntil: string | null };
  };

  /**
   * What was signed after now: a request under way may have been signed before. Each webhook has at most 4 under way,
   * and each of 6 flags at most one, so that the flag's second request from here on was begun after the first had ended.
   */
  const signedFromNow = (receiver: ScriptedReceiver) => {
    const from = receiver.received.length;
    return () => {
      const begun = new Set<string>();
      return receiver.received.slice(from).filter(({ body }) => {
        const { data } = JSON.parse(body.toString()) as { data: { flag: { key: string } } };
        const isLater = begun.has(data.flag.key);
        begun.add(data.flag.key);
        return isLater;
      });
    };
  };

  const countBelieved = async (requests: readonly Received[], check: Check): Promise<number> => {
    let count = 0;
    for (const request of requests) if (await check(request)) count += 1;
    return count;
  };

  test("through a rotation under load the old and the new secret both check every request", async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { admin } = await server.environment();
    const { id, secret: old } = await register(admin, receiver.url);
    const stop = await flowOf(admin);
    await more(receiver, 0);

    const asked = clock.clock().getTime();
    const { secret, previousSecretValidUntil } = await rotate(admin, id);
    const overlap = signedFromNow(receiver);
    const ends = Date.parse(previousSecretValidUntil ?? "");
    assert.ok(ends >= asked + day && ends <= clock.clock().getTime() + day);
    await more(receiver, receiver.received.length);
    clock.forward(day - minute);
    await more(receiver, receiver.received.length);
    const during = overlap();
    // No exception is needed for the old one: what was signed before the rotation carries it as well.
    const all = [...receiver.received];

    clock.forward(2 * minute);
    const afterwards = signedFromNow(receiver);
    await more(receiver, receiver.received.length);
    await stop();
    const late = afterwards();

    t.diagnostic(
      `${all.length} requests up to the overlap's end, ${during.length} within, ${late.length} after`,
    );
    assert.ok(during.length > eventsEachPhase && late.length > eventsEachPhase / 2);
    assert.equal(await countBelieved(all, believes(old, "plain")), all.length);
    assert.equal(await countBelieved(all, believes(old, "standard")), all.length);
    assert.equal(await countBelieved(during, believes(secret, "standard")), during.length);
    for (const scheme of ["standard", "plain"] as const) {
      assert.equal(await countBelieved(late, believes(secret, scheme)), late.length, scheme);
      assert.equal(await countBelieved(late, believes(old, scheme)), 0, scheme);
    }
    if (!awaitsRemoval) return;
    await until("the old secret is gone from the store", async () => {
      const [row] = await readRows(server, "select previous_secret from webhooks where id = ?", id);
      return row?.previous_secret === null;
    });
  });

  test("immediately: from the answer on only the new secret is used", async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { admin } = await server.environment();
    const { id, secret: old } = await register(admin, receiver.url);
    const stop = await flowOf(admin);
    await more(receiver, 0);
    const { secret, previousSecretValidUntil } = await rotate(admin, id, { immediately: true });
    const afterwards = signedFromNow(receiver);
    assert.equal(previousSecretValidUntil, null);
    await more(receiver, receiver.received.length);
    await stop();
    const late = afterwards();
    assert.ok(late.length > eventsEachPhase / 2);
    for (const scheme of ["standard", "plain"] as const) {
      assert.equal(await countBelieved(late, believes(secret, scheme)), late.length, scheme);
      assert.equal(await countBelieved(late, believes(old, scheme)), 0, scheme);
    }
  });

  test("rotated twice within the overlap: the two newest secrets are good, the first is not", async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { admin } = await server.environment();
    const { id, secret: first } = await register(admin, receiver.url);
    const { secret: second } = await rotate(admin, id, {});
    const { secret: third } = await rotate(admin, id, { immediately: false });
    assert.equal(new Set([first, second, third]).size, 3);
    await createFlag(admin);
    await logWhen(admin, id, 1, isDelivered);
    const [request] = receiver.received;
    assert.ok(request);
    const verdicts = await Promise.all(
      [first, second, third].map((secret) => believes(secret, "standard")(request)),
    );
    assert.deepEqual(verdicts, [false, true, true]);
    assert.equal(String(request.headers["webhook-signature"]).split(" ").length, 2);
    assert.equal(await believes(second, "plain")(request), true);
  });

  test("the same Idempotency-Key gives the same new secret, and rotates once", async (t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { admin } = await server.environment();
    const { id, secret: old } = await register(admin, receiver.url);
    const path = `/webhooks/${id}/secret/rotate`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => admin("POST", path, {}, { "idempotency-key": "turn" })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const [answer] = answers;
    assert.ok(answer);
    const { secret } = answer.body as { secret: string };
    assert.notEqual(secret, old);
    await createFlag(admin);
    await logWhen(admin, id, 1, isDelivered);
    const [request] = receiver.received;
    assert.ok(request);
    for (const known of [old, secret]) assert.ok(await believes(known, "standard")(request));
    const other = await admin("POST", path, { immediately: true }, { "idempotency-key": "turn" });
    assertRefused(other, 409, '"turn"');
    for (const body of [{ immediately: "yes" }, { now: true }, []]) {
      assertRefused(await admin("POST", path, body), 400);
    }
    assertRefused(await admin("POST", "/webhooks/wh_00/secret/rotate", {}), 404, "wh_00");
  });
};
