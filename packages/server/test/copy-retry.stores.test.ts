// A repeated request takes a copy over between its last part and its end: both return the one environment.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { parseConfig } from "@halyard/server";
import { newIds, openStore, random } from "@halyard/server/operator";
import { createEnvironments } from "../src/features/environments/environments.ts";
import { operator } from "../src/platform/auth/principal.ts";
import type { Store } from "../src/platform/database/store.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import type { IdempotentRequest } from "../src/writes/idempotency.ts";
import { interleaved } from "./support/interleaved.ts";
import { minute, movableClock } from "./support/movable-clock.ts";
import { dropDatabase } from "./support/postgres.ts";
import { newFolder } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";

const folder = newFolder();
const time = movableClock();
let store: Store;
let keyId: string;
/** Each transaction of a copy but the last, which finishes it. */
let earlier: readonly (() => Promise<void>)[];

const environmentsOn = (used: Store) =>
  createEnvironments(used, { clock: time.clock, random, newIds, maxEnvironments: 100 });

before(async () => {
  store = await openStore(parseConfig(await storeSettings(folder)));
  const made = await environmentsOn(store).createWithKey({ actor: operator }, { name: "source" });
  assert.ok(made.result.ok);
  keyId = made.result.value.key.apiKey.id;
  let count = 0;
  const counted = Array.from({ length: 100 }, () => async () => {
    count += 1;
  });
  await environmentsOn(interleaved(store, counted)).createWithKey(
    { actor: operator },
    copyAs("counted"),
  );
  earlier = Array.from({ length: count - 1 }, () => nothing);
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  await dropDatabase(basename(folder));
});

const copyAs = (name: string) => ({ name, copyOf: "source" });
const nothing = async () => undefined;

/** The same for each request that copies to this name. */
const onceFor = (name: string): IdempotentRequest => ({
  keyId,
  name,
  keptAs: name,
  fingerprint: name,
  seal: (result) => Buffer.from(JSON.stringify(result)),
  open: (sealed) => JSON.parse(Buffer.from(sealed).toString()),
});

/** A request whose transactions these steps precede; `repeated`, and the text of the new environment's key. */
const copyTo = async (name: string, steps: readonly (() => Promise<void>)[] = []) => {
  const environments = environmentsOn(interleaved(store, steps));
  const once = onceFor(name);
  const { result, repeated } = await environments.createWithKey({ actor: operator }, copyAs(name), {
    once,
  });
  return { repeated, key: result.ok ? result.value.key.text : result.failure };
};

const isThere = async (name: string): Promise<boolean> =>
  (await listEnvironments(store)).some((environment) => environment.name === name);

test("a request that loses the copy before its end returns what the other makes of it", async () => {
  const [taken, given] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let second: ReturnType<typeof copyTo> | undefined;
  const takeOver = async () => {
    const waiting = async () => {
      taken.resolve();
      await given.promise;
    };
    second = copyTo("lost-at-end", [nothing, waiting]);
    await taken.promise;
  };
  // The other goes on once the first has ended its last transaction, and looks for the result.
  const goOn = async () => given.resolve();
  const first = await copyTo("lost-at-end", [...earlier, takeOver, goOn]).finally(() =>
    given.resolve(),
  );
  const other = await second;
  assert.equal(typeof other?.key, "string", JSON.stringify(other));
  assert.equal(other?.repeated, false);
  const same = { repeated: true, key: other?.key };
  assert.deepEqual(first, same);
  assert.deepEqual(await copyTo("lost-at-end"), same);
  assert.ok(await isThere("lost-at-end"));
});

test("a request whose copy another has finished returns the same environment", async () => {
  let second: Awaited<ReturnType<typeof copyTo>> | undefined;
  const finish = async () => {
    second = await copyTo("finished-by-other");
  };
  const first = await copyTo("finished-by-other", [...earlier, finish]);
  assert.equal(typeof second?.key, "string", JSON.stringify(second));
  assert.deepEqual([second?.repeated, first], [false, { repeated: true, key: second?.key }]);
});

test("a copy that was given up before its end stores no result, and waits for no other", async () => {
  const giveUp = async () => time.forward(2 * minute);
  const lookAgain = () => Promise.reject(new Error("no other request has the copy"));
  const first = await copyTo("given-up", [...earlier, giveUp, nothing, lookAgain]);
  assert.equal(first.repeated, false);
  assert.match(JSON.stringify(first.key), /CONFLICT.*given up/);
  while (await environmentsOn(store).continueNext());
  const again = await copyTo("given-up");
  assert.deepEqual([typeof again.key, again.repeated], ["string", false], JSON.stringify(again));
  assert.ok(await isThere("given-up"));
});
