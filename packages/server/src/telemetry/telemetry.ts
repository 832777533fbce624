// All that is seen of one instance from outside: its counts, its audit trail and, when an SDK is loaded, its spans.
import { setTimeout as pause } from "node:timers/promises";
import type { Backlog } from "../domain/delivery.ts";
import type { Clock, Send, Store } from "../ports.ts";
import { type AuditLog, createAudit } from "./audit.ts";
import { createDeliveryMeter } from "./delivery-meter.ts";
import { type Scrape, scrapeWith } from "./exposition.ts";
import { familiesOf, type LoadFigures } from "./families.ts";
import { createHttpMeter, type HttpMeter } from "./http-meter.ts";
import { createStoreMeter } from "./store-meter.ts";
import { findTracing, type Tracing, type TracingLog } from "./tracing.ts";

/** A store that does not answer must not keep the other metrics back. */
const backlogPatience = 1_000;

export interface Telemetry {
  readonly http: HttpMeter;
  readonly tracing: Tracing | undefined;
  /** The same store, watched. */
  observe(store: Store): Store;
  readonly send: (send: Send) => Send;
  /** The store is asked for its backlog. */
  scrape(store: Store, load: LoadFigures): Promise<Scrape>;
}

export interface TelemetryDependencies {
  readonly version: string;
  readonly databaseSystem: "sqlite" | "postgresql";
  readonly log: AuditLog & TracingLog;
  readonly clock: Clock;
  readonly monotonic: () => number;
}

export const createTelemetry = async (dependencies: TelemetryDependencies): Promise<Telemetry> => {
  const { version, databaseSystem, log, clock, monotonic } = dependencies;
  const tracing = await findTracing(version, databaseSystem, log);
  const http = createHttpMeter();
  const deliveries = createDeliveryMeter();
  const store = createStoreMeter(monotonic, tracing);
  const audit = createAudit(log);

  const backlogOf = async ({ outbox }: Store): Promise<Backlog | undefined> => {
    const told = new AbortController();
    const tooLong = pause(backlogPatience, undefined, { ref: false, signal: told.signal });
    try {
      return await Promise.race([outbox.backlog(clock().getTime()), tooLong]);
    } catch {
      return undefined;
    } finally {
      told.abort();
      await tooLong.catch(() => undefined);
    }
  };

  return {
    http,
    tracing,
    observe(real) {
      const timed = store.store(real);
      return audit.store({ ...timed, outbox: deliveries.outbox(timed.outbox) });
    },
    send: (send) => deliveries.send(tracing ? tracing.send(send) : send),
    async scrape(of, load) {
      const backlog = await backlogOf(of);
      return scrapeWith(
        familiesOf({ version, http, deliveries, store, audit }, load, backlog, clock().getTime()),
      );
    },
  };
};
