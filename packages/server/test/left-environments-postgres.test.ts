// A change on PostgreSQL goes by what the last change of its instance has left, and by nothing else once that has changed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewHistoryEntry } from "../src/domain/history.ts";
import { halyard } from "../src/domain/principal.ts";
import type { Transaction } from "../src/ports.ts";
import { query } from "./support/postgres.ts";
import { addWebhook, createFlag, deleteFlag, patchFlag, type Step } from "./support/store-steps.ts";
import { openTwoInstances } from "./support/two-instances.ts";
import { until } from "./support/until.ts";

const entry: NewHistoryEntry = {
  ...{ subject: "environment" as const, subjectId: "e", version: null, before: null, after: null },
  ...{ actor: halyard, actions: ["environment.updated"], at: new Date() },
};

const read = async (transaction: Transaction, id: number) => {
  const locked = await transaction.lockEnvironment(id);
  return { locked, flag: await transaction.flag(id, "a") };
};

test("each of many changes by one instance runs once, on what the one before it has left", async (t) => {
  const { here, id, run, change, verify } = await openTwoInstances(t);
  await addWebhook(here, id);
  for (let count = 1; count <= 5; count += 1) {
    const description = `${count}`;
    assert.equal(await run(here, patchFlag("a", { description })), 1);
  }
  assert.equal(await run(here, createFlag("b")), 1);
  assert.equal(await run(here, deleteFlag("a")), 1);
  const { result, runs } = await change(here, (transaction) => read(transaction, id));
  assert.equal(runs, 1);
  assert.equal(result.flag, undefined);
  assert.partialDeepStrictEqual(result.locked?.state, { revision: 8, sequence: 8, flagCount: 1 });
  await verify();
});

test("a work that changes nothing goes by what is left too, and leaves it", async (t) => {
  const { here, there, id, run, change } = await openTwoInstances(t);
  const look = () => change(here, (transaction) => read(transaction, id));
  assert.equal((await look()).runs, 1);
  for (const description of ["1", "2"]) {
    await run(there, patchFlag("a", { description }));
    const { result, runs } = await look();
    assert.deepEqual([result.flag?.flag.description, runs], [description, 2]);
  }
});

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
      await transaction.insertWebhook(id, { ...webhook, createdAt: new Date() }, "secret");
      await transaction.record(id, entry);
    },
    seen: ({ locked }) => assert.equal(locked?.webhooks.length, 1),
  },
  "a setting": {
    async step(transaction, id) {
      await transaction.lockEnvironment(id);
      await transaction.setProtected(id, true);
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
      await transaction.announce({ ...state, sequence }, announced, "a", []);
    },
    seen: ({ locked }) => assert.equal(locked?.state.sequence, 2),
  },
  "an environment that is being removed": {
    async step(transaction, id) {
      await transaction.lockEnvironment(id);
      const [environment] = await transaction.environments();
      assert.ok(environment);
      await transaction.closeEnvironment(environment, new Date(), halyard);
    },
    seen: () => {},
  },
};

for (const [what, { step, seen }] of Object.entries(changesElsewhere)) {
  test(`${what}, changed by another instance, is seen: the work is run again`, async (t) => {
    const { here, there, id, run, change, verify } = await openTwoInstances(t);
    await run(there, step);
    const { result, runs } = await change(here, (transaction) => read(transaction, id));
    assert.equal(runs, 2);
    seen(result);
    await verify();
  });
}

for (const [what, { step, seen }] of Object.entries(changesElsewhere)) {
  test(`${what}, changed by this instance, is seen: the work is not run again`, async (t) => {
    const { here, id, run, change, verify } = await openTwoInstances(t);
    await run(here, step);
    const { result, runs } = await change(here, (transaction) => read(transaction, id));
    assert.equal(runs, 1);
    seen(result);
    await verify();
  });
}

test("an environment that another instance has removed is gone", async (t) => {
  const { here, url, id, change } = await openTwoInstances(t);
  await query(url, "delete from environments where id = $1", [id]);
  const { result, runs } = await change(here, (transaction) => read(transaction, id));
  assert.deepEqual([result.locked, runs], [undefined, 2]);
});

test("a refusal counts only when it goes by what is so", async (t) => {
  const { here, there, id, run, change } = await openTwoInstances(t);
  await run(there, patchFlag("a", { description: "there" }));
  const refused = new Error("another version");
  const { runs } = await change(here, async (transaction) => {
    const { flag } = await read(transaction, id);
    if (flag?.version !== 2) throw refused;
  });
  assert.equal(runs, 2);
  await run(here, patchFlag("a", { description: "here" }));
  const isRefused = change(here, async (transaction) => {
    await read(transaction, id);
    throw refused;
  });
  await assert.rejects(isRefused, refused);
});

test("an entry that an older version has written alone is chained before the next change", async (t) => {
  const { here, url, id, run, verify } = await openTwoInstances(t);
  await query(
    url,
    `insert into history (environment_id, subject, subject_id, at, actor_name, actions)
      values ($1, 'key', 'old', 1, 'old', '[]')`,
    [id],
  );
  assert.equal(await run(here, patchFlag("a", { description: "here" })), 2);
  assert.partialDeepStrictEqual(await verify(), { entries: 3 });
});

test("an entry that has lost its place is told by verification, and makes no work run twice", async (t) => {
  const { here, url, id, run } = await openTwoInstances(t);
  await query(
    url,
    `insert into history (id, environment_id, subject, subject_id, at, actor_name, actions)
      overriding system value values (-1, $1, 'key', 'old', 1, 'old', '[]')`,
    [id],
  );
  const runs: number[] = [];
  for (const description of ["1", "2", "3"])
    runs.push(await run(here, patchFlag("a", { description })));
  assert.deepEqual(runs, [2, 1, 1]);
});

test("an environment that need not be read is locked all the same", async (t) => {
  const { here, url, id, change } = await openTwoInstances(t);
  const { result, runs } = await change(here, async (transaction) => {
    await transaction.lockEnvironment(id);
    // Its answer comes after the lock's.
    await transaction.keys(id);
    return query(url, "select 1 from environments for no key update skip locked");
  });
  assert.deepEqual([result, runs], [[], 1]);
});

test("what failed halfway is not gone by", async (t) => {
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

test("an instance that has heard of another's change reads, and runs nothing twice", async (t) => {
  const { here, there, id, run, change } = await openTwoInstances(t);
  let heard = 0;
  here.onHint(() => {
    heard += 1;
  });
  await until("it listens", () => heard > 0 || undefined);
  await run(here, patchFlag("a", { description: "here" }));
  await run(there, patchFlag("a", { description: "there" }));
  await until("it has heard", () => heard > 1 || undefined);
  const { result, runs } = await change(here, (transaction) => read(transaction, id));
  assert.deepEqual([result.flag?.flag.description, runs], ["there", 1]);
});
