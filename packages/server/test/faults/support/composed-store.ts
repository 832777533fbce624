// A store with one environment and somebody who may change it, without a server: for tests that put faults between the rooms.
import assert from "node:assert/strict";
import { composeOperator, parseConfig } from "@halyard/server";
import type { Principal } from "../../../src/domain/principal.ts";
import { createSecretBox } from "../../../src/store/secret-box.ts";
import { keyRing } from "../../../src/store/secret-key-file.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { newFolder } from "../../support/server.ts";

export const composeStore = async () => {
  const folder = newFolder();
  const config = parseConfig({ HALYARD_DATA: folder });
  const operator = await composeOperator(config);
  const made = await operator.environments.create("test");
  await operator.close();
  assert.ok(made.ok);
  const principal: Principal = {
    keyId: "0123456789abcdef",
    keyName: "test",
    role: "admin",
    environmentId: made.value.id,
    environmentName: "test",
  };
  const store = await openSqliteStore(folder, createSecretBox(keyRing(folder, [])));
  return { folder, callbacks: config.callbacks, principal, store };
};
