// A change on PostgreSQL decides from what it reads under the lock, whichever instance wrote it last.
import assert from "node:assert/strict";
import { test } from "node:test";
import { closeEnvironment } from "../src/features/environments/removal-queries.ts";
import { insertWebhook } from "../src/features/webhooks/queries.ts";
import { listKeys } from "../src/platform/auth/key-queries.ts";
import { halyard } from "../src/platform/auth/principal.ts";
import type { Transaction } from "../src/platform/database/store.ts";
import { listEnvironments, updateProtected } from "../src/platform/environments.ts";
import type { NewHistoryEntry } from "../src/writes/history-entry.ts";
import { insertEvent } from "../src/writes/insert-event.ts";
import { query } from "./support/postgres.ts";
import { deleteFlag, patchFlag, type Step } from "./support/store-steps.ts";
import { openTwoInstances } from "./support/two-instances.ts";

const entry: NewHistoryEntry = {
  ...{ subject: "environment" as const, subjectId: "e", version: null, before: null, after: null },
  ...{ actor: halyard, actions: ["environment.updated"], at: new Date() },
};

const read = async (transaction: Transaction, id: number) => {
  const locked = await transaction.lockEnvironment(id);
  return { locked, flag: await transaction.flag(id, "a") };
};

const changesElsewhere: Readonly<
  Record<
    string,
    {
      readonly step: Step;
      readonly seen: (found: Awaited<ReturnType<typeof read>>) => unknown;
    }
  >
> = {
  "a flag": {
    step: patchFlag("a", { description: "there" }),
    seen: ({ flag }) => assert.equal(flag?.flag.description, "there"),
  },
  "a flag that is gone": {
    step: deleteFlag("a"),
    seen: ({ flag }) => assert.equal(flag, undefined),
  },
  "a webhook": {
    async step(transaction, id) {
      await transaction.lockEnvironment(id);
      const webhook = { id: "wh_1", url: "https://example.com", events: ["*"], active: true };
      await insertWebhook(transaction, id, { ...webhook, createdAt: new Date() }, "secret");
      await transaction.record(id, entry);
    },
    seen: ({ locked }) => assert.equal(locked?.webhooks.length, 1),
  },
  "a setting": {
    async step(transaction, id) {
      await transaction.lockEnvironment(id);
      await updateProtected(transaction, id, true);
      await transaction.record(id, entry);
    },
    seen: ({ locked }) => assert.equal(locked?.state.isProtected, true),
  },
  "an event without a revision": {
    async step(transaction, id) {
      const locked = await transaction.lockEnvironment(id);
      assert.ok(locked);
      const { state } = locked;
      const sequence = state.sequence + 1;
      const event = { id: "evt_1", type: "change_request.created", sequence } as const;
      const announced = { ...event, at: new Date(), body: new Uint8Array(1) };
      await insertEvent(transaction, { ...state, sequence }, announced, "a", []);
    },
    seen: ({ locked }) => assert.equal(locked?.state.sequence, 2),
  },
  "an environment that is being removed": {
    async step(transaction, id) {
      await transaction.lockEnvironment(id);
      const [environment] = await listEnvironments(transaction);
      assert.ok(environment);
      await closeEnvironment(transaction, environment, new Date(), halyard);
    },
    seen: () => {},
  },
};

for (const [what, { step, seen }] of Object.entries(changesElsewhere)) {
  test(`${what}, changed by either instance, is seen by the next change`, async (t) => {
    const { here, there, id, run, change, verify } = await openTwoInstances(t);
    await change(here, (transaction) => read(transaction, id));
    await run(there, step);
    const { result, runs } = await change(here, (transaction) => read(transaction, id));
    assert.equal(runs, 1);
    seen(result);
    seen((await change(there, (transaction) => read(transaction, id))).result);
    await verify();
  });
}

test("an environment that another instance has removed is gone", async (t) => {
  const { here, url, id, change } = await openTwoInstances(t);
  await query(url, "delete from environments where id = $1", [id]);
  const { result, runs } = await change(here, (transaction) => read(transaction, id));
  assert.deepEqual([result.locked, runs], [undefined, 1]);
});

test("the environment is locked until the transaction ends", async (t) => {
  const { here, url, id, change } = await openTwoInstances(t);
  const { result, runs } = await change(here, async (transaction) => {
    await transaction.lockEnvironment(id);
    // Its answer comes after the lock's.
    await listKeys(transaction, id);
    return query(url, "select 1 from environments for no key update skip locked");
  });
  assert.deepEqual([result, runs], [[], 1]);
});

test("what failed halfway was never there", async (t) => {
  const { here, id, run, change } = await openTwoInstances(t);
  const failed = change(here, async (transaction) => {
    await patchFlag("a", { description: "lost" })(transaction, id);
    throw new Error("halfway");
  });
  await assert.rejects(failed, /halfway/);
  assert.equal(await run(here, patchFlag("a", { description: "kept" })), 1);
  const { result } = await change(here, (transaction) => read(transaction, id));
  assert.partialDeepStrictEqual(result.flag, { version: 2, flag: { description: "kept" } });
});

test("changes at once by both instances are one chain without a gap", async (t) => {
  const { here, there, id, change, run, verify } = await openTwoInstances(t);
  const count = 40;
  const runs = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      run(index % 2 === 0 ? here : there, patchFlag("a", { description: `${index}` })),
    ),
  );
  assert.ok(runs.length === count);
  const { result } = await change(here, (transaction) => read(transaction, id));
  assert.equal(result.flag?.version, count + 1);
  assert.equal(result.locked?.state.sequence, count + 1);
  await verify();
});
