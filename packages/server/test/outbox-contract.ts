// What every store must do for several instances and their delivery workers: called once for each store.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { deleteInstances, saveInstance, touchInstance } from "../src/features/clients/queries.ts";
import {
  findDelivery,
  insertTestEvent,
  listDeliveries,
} from "../src/features/webhooks/deliveries/queries.ts";
import { queueDeliveries } from "../src/features/webhooks/deliveries/queue-queries.ts";
import {
  deleteOldestDeliveries,
  findWebhook,
  updateWebhook,
} from "../src/features/webhooks/queries.ts";
import type { Claim, DeliveryBatch } from "../src/features/webhooks/sending/batch.ts";
import { findBacklog, listDue } from "../src/features/webhooks/sending/queries.ts";
import { furthestRetry } from "../src/features/webhooks/sending/rules.ts";
import { runBatch } from "../src/features/webhooks/sending/run-batch.ts";
import type { Store } from "../src/platform/database/store.ts";
import type { OpenedStore } from "./store-contract.ts";
import { addEnvironment, addWebhook, at, changeFlag, createFlag } from "./support/store-steps.ts";

const now = at.getTime();
const leaseLength = 25_000;

const turn = (
  webhookId: string,
  leaseId: string,
  count: number,
  more: Partial<DeliveryBatch> = {},
): DeliveryBatch => ({
  results: [],
  released: [],
  health: [],
  claim: {
    wanted: new Map([[webhookId, count]]),
    held: new Map(),
    leaseId,
    leaseUntil: now + leaseLength,
    leaseLength,
  },
  now,
  ...more,
});

const delivered = (claim: Claim) => ({
  claim,
  attempt: { at, milliseconds: 1, status: 204, error: null, response: null },
  decision: { kind: "delivered" } as const,
});

export const outboxContract = (name: string, open: () => Promise<OpenedStore>): void => {
  suite(`the outbox on ${name}`, () => {
    let opened: OpenedStore;
    let second: Store;
    before(async () => {
      opened = await open();
      second = await opened.again();
    });
    after(async () => {
      await second.close();
      await opened.remove();
    });

    /** A webhook with one pending delivery of each of so many flags. */
    const pending = async (flags: number): Promise<string> => {
      const environment = await addEnvironment(opened.store);
      const webhook = await addWebhook(opened.store, environment.id);
      for (let flag = 0; flag < flags; flag += 1) {
        await changeFlag(opened.store, environment.id, createFlag(`flag-${flag}`));
      }
      return webhook.id;
    };
    const states = async (webhookId: string) =>
      (await listDeliveries(second, webhookId, { limit: 100 })).map(({ state }) => state);

    test("an instance learns whether the row that it renews is still there", async () => {
      const self = { id: "one", name: "one", version: "1.0.0", startedAt: now };
      const touch = (id: string) =>
        opened.store.transactAsyncCommit((db) => touchInstance(db, id, now));
      await opened.store.transactAsyncCommit((db) => saveInstance(db, self, now, "{}"));
      assert.equal(await touch("one"), true);
      assert.equal(await touch("another"), false);
      await second.transactAsyncCommit((db) => deleteInstances(db, -1, "one"));
      assert.equal(await touch("one"), false);
    });

    test("instances that claim at once never get the same", async () => {
      const webhookId = await pending(40);
      const asked = Array.from({ length: 12 }, (_, index) =>
        runBatch(index % 2 === 0 ? opened.store : second, turn(webhookId, `lease-${index}`, 5)),
      );
      const claims = (await Promise.all(asked)).flatMap((each) => each.claims);
      const queues = claims.map(({ queueId }) => queueId);
      assert.ok(queues.length >= 5, `${queues.length}`);
      assert.equal(new Set(queues).size, queues.length);
      // Whoever found all of them held finds the rest later.
      const rest = await runBatch(second, turn(webhookId, "lease-rest", 100));
      assert.equal(queues.length + rest.claims.length, 40);
    });

    test("a settlement counts for as long as no other claim has taken the queue", async () => {
      const webhookId = await pending(2);
      const { claims } = await runBatch(opened.store, turn(webhookId, "slow", 2));
      const [one, two] = claims;
      assert.ok(one && two);
      const later = { now: now + leaseLength + 1 };
      const taken = await runBatch(second, turn(webhookId, "quick", 1, later));
      const [mine] = taken.claims;
      assert.ok(mine);
      const none = { claim: { ...turn(webhookId, "none", 0).claim, wanted: new Map() } };
      await runBatch(
        opened.store,
        turn(webhookId, "none", 0, { ...none, results: claims.map(delivered) }),
      );
      assert.deepEqual((await states(webhookId)).sort(), ["delivered", "pending"]);
      await runBatch(second, turn(webhookId, "none", 0, { ...none, results: [delivered(mine)] }));
      assert.deepEqual(await states(webhookId), ["delivered", "delivered"]);
      const [left] = await listDeliveries(second, webhookId, { limit: 1 });
      assert.equal(left?.attempts.length, 1);
    });

    test("a delivery that is deleted while it is sent has no outcome, and the others of the batch have theirs", async () => {
      const [doomed, other] = [await pending(1), await pending(1)];
      const claimed = await runBatch(
        opened.store,
        turn(doomed, "sent", 1, {
          claim: {
            ...turn(doomed, "sent", 1).claim,
            wanted: new Map([
              [doomed, 1],
              [other, 1],
            ]),
          },
        }),
      );
      assert.equal(claimed.claims.length, 2);
      await second.transact((transaction) => deleteOldestDeliveries(transaction, doomed, 100));
      const none = { claim: { ...turn(other, "none", 0).claim, wanted: new Map() } };
      await runBatch(
        opened.store,
        turn(other, "none", 0, { ...none, results: claimed.claims.map(delivered) }),
      );
      assert.deepEqual([await states(doomed), await states(other)], [[], ["delivered"]]);
    });

    test("the backlog: what is pending, and since when the oldest of an active webhook is due", async () => {
      const before = await findBacklog(second, now);
      const webhookId = await pending(3);
      const after = await findBacklog(second, now);
      assert.equal(after.pending - before.pending, 3);
      assert.equal(after.oldestDueAt, now);
      assert.equal((await findBacklog(second, now - 1)).oldestDueAt, null, "not due yet");

      const environment = await addEnvironment(opened.store);
      const paused = await addWebhook(opened.store, environment.id);
      const event = { id: "evt_old", type: "webhook.test", body: new Uint8Array() };
      const delivery = { id: "dlv_old", webhookId: paused.id, eventId: event.id };
      const earlier = new Date(now - 5_000);
      await opened.store.transact(async (transaction) => {
        await insertTestEvent(transaction, environment.id, event, earlier);
        const old = { ...delivery, sequence: null, orderingKey: null };
        await queueDeliveries(transaction, [old], "test", earlier);
      });
      assert.equal((await findBacklog(second, now)).oldestDueAt, now - 5_000);
      await opened.store.transact((transaction) =>
        updateWebhook(transaction, environment.id, { ...paused, active: false }, null),
      );
      assert.equal((await findBacklog(second, now)).oldestDueAt, now, "it is not sent to");
      assert.equal((await findBacklog(second, now)).pending, after.pending + 1);

      const { claims } = await runBatch(second, turn(webhookId, "all", 3));
      await runBatch(
        second,
        turn(webhookId, "none", 0, {
          claim: { ...turn(webhookId, "none", 0).claim, wanted: new Map() },
          results: claims.map(delivered),
        }),
      );
      assert.equal((await findBacklog(second, now)).pending, before.pending + 1);
    });

    test("a change and a settlement at once leave no queue asleep", async () => {
      const environment = await addEnvironment(opened.store);
      const { id } = await addWebhook(opened.store, environment.id);
      for (let round = 0; round < 20; round += 1) {
        const flag = `flag-${round}`;
        await changeFlag(opened.store, environment.id, createFlag(flag));
        const { claims } = await runBatch(second, turn(id, `first-${round}`, 1));
        const results = claims.map(delivered);
        const none = { ...turn(id, "none", 0).claim, wanted: new Map<string, number>() };
        await Promise.all([
          runBatch(second, turn(id, "none", 0, { results, claim: none })),
          opened.store.transact(async (transaction) => {
            const webhook = await findWebhook(transaction, environment.id, id);
            const delivery = await findDelivery(transaction, id, claims[0]?.deliveryId ?? "");
            assert.ok(webhook && delivery);
            const { id: eventId, sequence, orderingKey } = delivery.event;
            const again = { id: `again-${round}`, webhookId: id, eventId, sequence, orderingKey };
            await queueDeliveries(transaction, [again], "event", at);
          }),
        ]);
        const { claims: next } = await runBatch(second, turn(id, `second-${round}`, 1));
        assert.deepEqual(
          next.map(({ deliveryId }) => deliveryId),
          [`again-${round}`],
        );
        const last = next.map(delivered);
        await runBatch(second, turn(id, "none", 0, { results: last, claim: none }));
      }
    });

    test("what was planned before the clock went back is not stuck: it is due when no retry could wait so long", async () => {
      const webhookId = await pending(1);
      const hour = 3_600_000;
      const claimedAt = async (time: number) => {
        const due = await listDue(second, time, leaseLength);
        const { claims } = await runBatch(second, turn(webhookId, `at-${time}`, 1, { now: time }));
        await runBatch(second, {
          ...turn(webhookId, "none", 0),
          claim: { ...turn(webhookId, "none", 0).claim, wanted: new Map() },
          released: claims,
        });
        assert.equal(due.includes(webhookId), claims.length === 1, "both say the same");
        return claims.length;
      };
      assert.equal(await claimedAt(now), 1);
      assert.equal(await claimedAt(now - hour), 0, "late by the hour");
      assert.equal(await claimedAt(now - furthestRetry), 0, "the longest pause that is planned");
      assert.equal(await claimedAt(now - furthestRetry - 1), 1);
      assert.equal(await claimedAt(now - 365 * 24 * hour), 1);
    });
  });
};
