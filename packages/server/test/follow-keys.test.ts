// Keys in memory follow the store whatever becomes of the flags beside them.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { type ChangeFeed, startChangeFeed } from "../src/evaluation/change-feed.ts";
import { hashKey } from "../src/features/keys/keys.ts";
import { createApiKeyCache } from "../src/platform/auth/key-cache.ts";
import { createKeyTable } from "../src/platform/auth/key-table.ts";
import type { Replica } from "../src/platform/database/replica.ts";
import type { KeyHolder } from "../src/platform/database/store.ts";
import { composeStore } from "./faults/support/composed-store.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

test("keys are revoked also while flags cannot be read", async (t) => {
  const { store, environment, folder } = await composeStore();
  const operator = await composeOperator(parseConfig(await storeSettings(folder)));
  let feed: ChangeFeed | undefined;
  t.after(async () => {
    await feed?.close();
    await operator.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { apiKey, text } = await operator.keys.createAsOperator(environment.id, {
    role: "server",
    name: "doomed",
  });
  const keyTable = createKeyTable(store, () => new Date());
  let isAway = false;
  const failing: Replica = {
    beginPoll: () => async () => {
      if (isAway) throw new Error("flags cannot be read");
    },
    apply: () => true,
  };
  const started = await startChangeFeed(store, [failing, keyTable], {
    onLost: () => undefined,
    onFound: () => undefined,
  });
  feed = started;
  const keyCache = createApiKeyCache({
    table: keyTable,
    catchUp: () => started.catchUp(),
    hashKey,
  });
  assert.equal((await keyCache.find(text))?.principal.keyId, apiKey.id);
  isAway = true;
  const revoked = await operator.keys.revokeAsOperator(environment.id, apiKey.id);
  assert.ok(revoked.ok);
  await assert.rejects(started.catchUp(), /flags cannot be read/);
  // A look that was under way may have read the keys before that.
  await until("the end of the key", () => keyCache.known(text) === undefined);
  assert.ok(!keyCache.isValid(apiKey.id));
});

test("that a key was revoked here is remembered as long as an older read may still come", async () => {
  const holder = (keyId: string): KeyHolder => ({
    hash: Buffer.from(keyId),
    accessOf: null,
    email: null,
    principal: {
      keyId,
      role: "admin",
      actor: { keyId, name: keyId },
      environment: { id: 1, name: "test" },
      expiresAt: null,
      origins: null,
    },
  });
  let holders = [holder("a"), holder("b")];
  const table = createKeyTable({ keyHolders: async () => holders }, () => new Date());
  const at = (keysRevision: number) => [
    { environmentId: 1, name: "test", revision: 0, keysRevision },
  ];
  await table.beginPoll()(at(1));
  const late = table.beginPoll();
  table.apply({ changes: [], revokedKeys: ["a"], accessChanged: false });
  await late(at(2));
  assert.equal(table.byId("a"), undefined, "the read that began before still had it");
  holders = [holder("b")];
  await table.beginPoll()(at(3));
  // Only a restored backup brings it back.
  holders = [holder("a"), holder("b")];
  await table.beginPoll()(at(4));
  assert.equal(table.byId("a")?.principal.keyId, "a");
});
