// All telemetry of one instance: metrics, audit log and, when an SDK is loaded, spans.
import { setTimeout as pause } from "node:timers/promises";
import type { Backlog, RunBatch } from "../../features/webhooks/sending/batch.ts";
import type { Replica } from "../database/replica.ts";
import type { ObserveCall } from "../database/schema/kysely-on.ts";
import type { Clock, Send, Store } from "../database/store.ts";
import { type AuditLog, createAudit } from "./audit.ts";
import { createDeliveryMeter } from "./delivery-meter.ts";
import { type Scrape, scrapeWith } from "./exposition.ts";
import { familiesOf, type LoadFigures } from "./families.ts";
import { createHttpMeter, type HttpMeter } from "./http-meter.ts";
import { createStoreMeter } from "./store-meter.ts";
import { findTracing, type Tracing, type TracingLog } from "./tracing.ts";

/** Milliseconds: a store that does not answer must not hold up the other metrics. */
const backlogTimeout = 1_000;

/** At a time, in milliseconds. */
type FindBacklog = (now: number) => Promise<Backlog>;

export interface Telemetry {
  readonly http: HttpMeter;
  readonly tracing: Tracing | undefined;
  /** Measures the calls to the database. */
  readonly observe: ObserveCall;
  /** Counts finished deliveries, and measures batches. */
  readonly runBatch: (run: RunBatch) => RunBatch;
  /** Writes the audit log of the store's commits; the change feed notifies what it returns. */
  follow(store: Store): readonly Replica[];
  readonly send: (send: Send) => Send;
  scrape(findBacklog: FindBacklog, load: LoadFigures): Promise<Scrape>;
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

  const backlogWithin = async (find: FindBacklog): Promise<Backlog | undefined> => {
    const answered = new AbortController();
    const tooLong = pause(backlogTimeout, undefined, { ref: false, signal: answered.signal });
    try {
      return await Promise.race([find(clock().getTime()), tooLong]);
    } catch {
      return undefined;
    } finally {
      answered.abort();
      await tooLong.catch(() => undefined);
    }
  };

  return {
    http,
    tracing,
    observe: store.observe,
    runBatch: (run) =>
      deliveries.runBatch((batch) => store.observe("delivery", "runBatch", () => run(batch))),
    follow: (real) => [audit.follow(real), store.replica],
    send: (send) => deliveries.send(tracing ? tracing.send(send) : send),
    async scrape(findBacklog, load) {
      const backlog = await backlogWithin(findBacklog);
      return scrapeWith(
        familiesOf({ version, http, deliveries, store, audit }, load, backlog, clock().getTime()),
      );
    },
  };
};
