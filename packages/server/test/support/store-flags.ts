// Changes of flags on a store alone, without a server.
import { newIds } from "@halyard/server/compose/operator";
import { createChanges } from "../../src/management/change-requests/changes.ts";
import { createFlags, type Flags } from "../../src/management/flags.ts";
import type { Clock, Store } from "../../src/ports.ts";

/** The environments of these tests have no limit on flips. */
const noPreview = () => Promise.reject(new Error("There is no sample here."));

export const flagsOn = (store: Store, clock: Clock = () => new Date()): Flags =>
  createFlags(createChanges(store, clock, newIds, noPreview));
