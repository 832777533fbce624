// A store with one environment and somebody who may change it, without a server: for tests that put faults between the rooms.
import assert from "node:assert/strict";
import { composeOperator, parseConfig } from "@halyard/server";
import { openStore } from "@halyard/server/operator";
import type { Actor, EnvironmentRef } from "../../../src/platform/auth/principal.ts";
import { newFolder } from "../../support/server.ts";
import { storeSettings } from "../../support/test-store.ts";

export const composeStore = async () => {
  const folder = newFolder();
  const config = parseConfig(await storeSettings(folder));
  const operator = await composeOperator(config);
  const made = await operator.environments.create("test");
  await operator.close();
  assert.ok(made.ok);
  const actor: Actor = { keyId: "0123456789abcdef", name: "test" };
  const environment: EnvironmentRef = { id: made.value.id, name: "test" };
  const store = await openStore(config);
  return {
    folder,
    callbacks: config.callbacks,
    caller: { actor, environment },
    environment,
    store,
  };
};
