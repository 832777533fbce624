// Changes of flags on a store alone, without a server.

import { ok } from "@halyard/server/errors";
import { newIds } from "@halyard/server/operator";
import { createFlags, type Flags } from "../../src/features/flags/flags.ts";
import type { Clock, Store } from "../../src/platform/database/store.ts";
import { createChanges } from "../../src/writes/changes.ts";

/** The environments of these tests have no impact limit. */
const noLimit = async () => ok(undefined);

export const flagsOn = (store: Store, clock: Clock = () => new Date()): Flags =>
  createFlags(createChanges(store, clock, newIds, noLimit));
