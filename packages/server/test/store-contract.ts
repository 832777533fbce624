// What every store must do, whatever database it stands on: called once for each of them.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { StartupProblem } from "@halyard/server/errors";
import { insertEnvironment } from "../src/features/environments/queries.ts";
import {
  closeEnvironment,
  deleteEnvironmentPart,
} from "../src/features/environments/removal-queries.ts";
import { listHistory } from "../src/features/history/queries.ts";
import { insertKey, revokeKey } from "../src/features/keys/queries.ts";
import { listEvents } from "../src/features/webhooks/deliveries/queries.ts";
import {
  deleteWebhook,
  insertWebhook,
  updateSecret,
  updateWebhook,
} from "../src/features/webhooks/queries.ts";
import { operator } from "../src/platform/auth/principal.ts";
import type { Store, Transaction } from "../src/platform/database/store.ts";
import { listEnvironments, listRemovedEnvironments } from "../src/platform/environments.ts";
import { Interrupted, interruptAfter } from "./support/interrupt-after.ts";
import {
  addEnvironment,
  addWebhook,
  at,
  changeFlag,
  createFlag,
  deleteFlag,
  newKey,
  patchFlag,
} from "./support/store-steps.ts";

export interface OpenedStore {
  readonly store: Store;
  /** Another instance on the same database. */
  again(maxWaiting?: number): Promise<Store>;
  /** Every row of every table. */
  dump(): Promise<unknown>;
  /** From now on each write of this kind to this table fails; gives what ends that. */
  failOn(table: string, verb: "insert" | "update" | "delete"): Promise<() => Promise<void>>;
  setSchemaVersion(version: number): Promise<void>;
  /** Closes the store and removes its database. */
  remove(): Promise<void>;
}

export interface StoreTraits {
  /** Two instances in one process may wait for each other; SQLite would block the process meanwhile. */
  readonly sharesProcess: boolean;
}

export const storeContract = (
  name: string,
  open: () => Promise<OpenedStore>,
  { sharesProcess }: StoreTraits,
): void => {
  suite(`the store on ${name}`, () => {
    let opened: OpenedStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened.remove());

    test("opening it again changes nothing", async () => {
      const environment = await addEnvironment(opened.store);
      await changeFlag(opened.store, environment.id, createFlag("kept"));
      const earlier = await opened.dump();
      const second = await opened.again();
      assert.deepEqual(await listEnvironments(second), await listEnvironments(opened.store));
      await second.check();
      await second.close();
      assert.deepEqual(await opened.dump(), earlier);
    });

    const together = async () => {
      const fresh = await open();
      const stores = await Promise.all([fresh.again(), fresh.again(), fresh.again()]);
      const environment = await addEnvironment(fresh.store);
      for (const store of stores) {
        assert.deepEqual(await listEnvironments(store), [environment]);
        await store.close();
      }
      await fresh.remove();
    };
    if (sharesProcess) test("instances that open a database at once make one schema", together);

    test("a database that a newer program wrote is refused and left as it is", async () => {
      const newer = await open();
      await newer.setSchemaVersion(1_000);
      const earlier = await newer.dump();
      await assert.rejects(newer.again(), (error) => {
        assert.ok(error instanceof StartupProblem);
        assert.match(error.message, /schema version 1000.*start the newer Halyard that wrote it/);
        return true;
      });
      assert.deepEqual(await newer.dump(), earlier);
      await newer.remove();
    });

    test("a transaction that throws leaves nothing, whichever of its steps was the last", async () => {
      const environment = await addEnvironment(opened.store);
      const webhook = await addWebhook(opened.store, environment.id);
      await changeFlag(opened.store, environment.id, createFlag("old"));
      const work = async (transaction: Transaction) => {
        const made = await insertEnvironment(transaction, "half", at);
        await insertKey(transaction, newKey(made.id, "half"));
        await transaction.record(made.id, {
          subject: "key",
          subjectId: "half",
          version: null,
          at,
          actor: { keyId: null, name: "operator" },
          actions: ["key.created"],
          before: null,
          after: {},
        });
        await createFlag("new")(transaction, environment.id);
        await patchFlag("new", { enabled: true, description: "both" })(transaction, environment.id);
        await deleteFlag("old")(transaction, environment.id);
        await updateWebhook(transaction, environment.id, { ...webhook, active: false }, at);
        await updateSecret(transaction, webhook.id, "whsec_new", at);
        const other = { ...webhook, id: "wh_other" };
        await insertWebhook(transaction, environment.id, other, "whsec_other");
        await deleteWebhook(transaction, environment.id, other.id);
        const answer = { fingerprint: "f", sealed: Buffer.from("s") };
        const until = new Date(at.getTime() + 1);
        await transaction.saveIdempotencyRecord("half", "once", answer, until, at);
        await revokeKey(transaction, made.id, "half", at, 500);
        await closeEnvironment(transaction, made, at, operator);
        await deleteEnvironmentPart(transaction, made.id, 1_000, at);
      };
      const earlier = await opened.dump();
      let calls = 0;
      for (let done = false; !done; ) {
        calls += 1;
        try {
          await opened.store.transact((transaction) => work(interruptAfter(transaction, calls)));
          done = true;
        } catch (error) {
          assert.ok(error instanceof Interrupted, String(error));
          assert.deepEqual(await opened.dump(), earlier, error.message);
        }
      }
      assert.ok(calls > 20, `${calls} steps`);
      assert.notDeepEqual(await opened.dump(), earlier);
    });

    test("a change of a flag that fails at any of its writes leaves nothing", async () => {
      const environment = await addEnvironment(opened.store);
      await addWebhook(opened.store, environment.id);
      await changeFlag(opened.store, environment.id, createFlag("patched"));
      await changeFlag(opened.store, environment.id, createFlag("deleted"));
      const changes = {
        insert: createFlag("created"),
        update: patchFlag("patched", { enabled: true, percentage: 12.345 }),
        delete: deleteFlag("deleted"),
      } as const;
      const earlier = await opened.dump();
      for (const verb of ["insert", "update", "delete"] as const) {
        const writes = [
          ["flags", verb],
          ["environments", "update"],
          ["history", "insert"],
          ["events", "insert"],
          ["deliveries", "insert"],
        ] as const;
        for (const [table, kind] of writes) {
          const mend = await opened.failOn(table, kind);
          const changing = changeFlag(opened.store, environment.id, changes[verb]);
          await assert.rejects(changing, /refused/, `${verb} without the ${kind} of ${table}`);
          await mend();
          assert.deepEqual(await opened.dump(), earlier, `${verb}, failing at ${table}`);
        }
        await changeFlag(opened.store, environment.id, changes[verb]);
        assert.notDeepEqual(await opened.dump(), earlier);
        Object.assign(earlier as object, await opened.dump());
      }
    });

    test("nobody sees a change before it is committed; then every instance does", async () => {
      const environment = await addEnvironment(opened.store);
      const second = await opened.again();
      await opened.store.transact(async (transaction) => {
        await createFlag("a")(transaction, environment.id);
        assert.equal((await transaction.flag(environment.id, "a"))?.version, 1);
        for (const reader of [opened.store, second]) {
          assert.equal(await reader.flag(environment.id, "a"), undefined);
          assert.equal((await reader.content(environment.id)).revision, 0);
        }
      });
      for (const reader of [opened.store, second]) {
        assert.equal((await reader.flag(environment.id, "a"))?.version, 1);
        assert.equal((await reader.content(environment.id)).revision, 1);
      }
      await second.close();
    });

    test("changes made at once come one after the other, without a gap", async () => {
      const environment = await addEnvironment(opened.store);
      const second = await opened.again();
      await changeFlag(second, environment.id, createFlag("count"));
      const bump = (index: number) =>
        changeFlag(
          sharesProcess && index % 2 === 0 ? second : opened.store,
          environment.id,
          patchFlag("count", { description: String(index) }),
        );
      await Promise.all(Array.from({ length: 40 }, (_, index) => bump(index)));
      assert.equal((await second.flag(environment.id, "count"))?.version, 41);
      assert.equal((await opened.store.content(environment.id)).revision, 41);
      const query = { subject: "flag", subjectId: "count", limit: 100 } as const;
      const { entries } = await listHistory(opened.store, environment.id, query);
      assert.deepEqual(
        entries.map(({ version }) => version),
        Array.from({ length: 41 }, (_, index) => 41 - index),
      );
      const events = await listEvents(
        second,
        environment.id,
        {},
        ["flag.created", "flag.updated"],
        100,
      );
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        Array.from({ length: 41 }, (_, index) => index + 1),
      );
      await second.close();
    });

    test("flags come back exactly as they were written, sorted by the bytes of their keys", async () => {
      const environment = await addEnvironment(opened.store);
      for (const key of ["b", "a", "B", "a.b", "a-b", "_".padStart(2, "a"), "0"]) {
        await changeFlag(opened.store, environment.id, createFlag(key));
      }
      const text = "Ünïcode 🏴 'quoted' \"\u0000\" \n";
      await changeFlag(
        opened.store,
        environment.id,
        patchFlag("b", { percentage: 99.999, description: text }),
      );
      const { revision, flags } = await opened.store.content(environment.id);
      assert.equal(revision, 8);
      assert.deepEqual(
        flags.map(({ flag }) => flag.key),
        ["0", "B", "a", "a-b", "a.b", "a_", "b"],
      );
      assert.deepEqual(flags.at(-1), {
        version: 2,
        flag: { key: "b", type: "rollout", enabled: false, percentage: 99.999, description: text },
      });
      const listed = (await listEnvironments(opened.store)).find(({ id }) => id === environment.id);
      assert.equal(listed?.flagCount, 7);
    });

    test("a deleted environment takes everything with it, and its number is not given again", async () => {
      const earlier = await opened.dump();
      const environment = await addEnvironment(opened.store);
      await addWebhook(opened.store, environment.id);
      await changeFlag(opened.store, environment.id, createFlag("a"));
      const key = newKey(environment.id, "gone");
      await opened.store.transact((transaction) => insertKey(transaction, key));
      const holders = () => opened.store.keyHolders(environment.id);
      assert.equal((await holders())[0]?.principal.keyId, "gone");
      await opened.store.transact((tx) => closeEnvironment(tx, environment, at, operator));
      assert.deepEqual(await holders(), [], "its keys end first");
      const part = () =>
        opened.store.transact((transaction) =>
          deleteEnvironmentPart(transaction, environment.id, 2, at),
        );
      const parts: number[] = [];
      while (parts.at(-1) !== 0) parts.push(await part());
      assert.ok(parts.length > 4 && Math.max(...parts) <= 2, parts.join());
      const [removed] = await listRemovedEnvironments(opened.store);
      assert.deepEqual(removed, {
        name: environment.name,
        flags: 0,
        webhooks: 1,
        keys: 1,
        beganAt: at,
        endedAt: at,
        actor: operator,
      });
      const { removed_environments: _, ...left } = (await opened.dump()) as Readonly<
        Record<string, unknown>
      >;
      const { removed_environments: __, ...before } = earlier as Readonly<Record<string, unknown>>;
      assert.deepEqual(left, before);
      await opened.store.transact(async (transaction) => {
        assert.equal(await transaction.lockEnvironment(environment.id), undefined);
      });
      assert.ok((await addEnvironment(opened.store)).id > environment.id);
    });
  });
};
