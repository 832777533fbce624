// The request that a change comes from: set by HTTP, read by the audit log, invisible to the code in between.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../domain/principal.ts";

export interface Origin {
  readonly requestId: string;
  /** The client's. */
  readonly address: string;
  readonly actor: Actor;
}

const origins = new AsyncLocalStorage<Origin>();

/** Everything that the work starts has this origin. */
export const withOrigin = <T>(origin: Origin, work: () => T): T => origins.run(origin, work);

/** Undefined outside a request. */
export const currentOrigin = (): Origin | undefined => origins.getStore();
