// Where a change comes from: known to the HTTP side, told in the audit log, and no concern of what lies between.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../domain/principal.ts";

export interface Origin {
  readonly requestId: string;
  /** The client's. */
  readonly address: string;
  readonly actor: Actor;
}

const origins = new AsyncLocalStorage<Origin>();

/** All that the work begins has this origin. */
export const withOrigin = <T>(origin: Origin, work: () => T): T => origins.run(origin, work);

/** Undefined for what no request has asked for. */
export const currentOrigin = (): Origin | undefined => origins.getStore();
