// Changes of flags on a store alone, without a server.
import { newIds } from "@halyard/server/compose/operator";
import { ok } from "@halyard/server/errors";
import { createChanges } from "../../src/management/change-requests/changes.ts";
import { createFlags, type Flags } from "../../src/management/flags.ts";
import type { Clock, Store } from "../../src/ports.ts";

/** The environments of these tests have no impact limit. */
const noLimit = async () => ok(undefined);

export const flagsOn = (store: Store, clock: Clock = () => new Date()): Flags =>
  createFlags(createChanges(store, clock, newIds, noLimit));
