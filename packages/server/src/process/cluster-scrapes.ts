// The metrics of all workers, for the one that is scraped: it asks the primary process, which asks them all.
import type { Worker } from "node:cluster";
import type { Scrape } from "../telemetry/exposition.ts";
import type { Order, Report } from "./cluster-messages.ts";

/** Milliseconds. A sum without one of the workers would look like a counter reset, so none is given. */
const timeout = 2_000;

type ScrapeReport = Extract<Report, { kind: "scrape all" | "scrape" }>;

/** The primary's part. */
export const createScrapeRounds = (
  serving: () => Iterable<Worker>,
  send: (worker: Worker, order: Order) => void,
) => {
  interface Round {
    readonly missing: Set<Worker>;
    readonly scrapes: Scrape[];
    end(): void;
  }
  const rounds = new Map<number, Round>();
  let last = 0;

  const begin = (asker: Worker, request: number): void => {
    last += 1;
    const number = last;
    const missing = new Set(serving());
    const scrapes: Scrape[] = [];
    const end = (): void => {
      clearTimeout(timer);
      rounds.delete(number);
      send(asker, { kind: "scrapes", request, scrapes: missing.size === 0 ? scrapes : undefined });
    };
    const timer = setTimeout(end, timeout).unref();
    rounds.set(number, { missing, scrapes, end });
    for (const worker of missing) send(worker, { kind: "scrape", round: number });
  };

  const leave = (round: Round, worker: Worker): void => {
    if (round.missing.delete(worker) && round.missing.size === 0) round.end();
  };

  return {
    receive(worker: Worker, report: ScrapeReport): void {
      if (report.kind === "scrape all") {
        begin(worker, report.request);
        return;
      }
      const round = rounds.get(report.round);
      if (!round) return;
      round.scrapes.push(report.scrape);
      leave(round, worker);
    },
    /** No round waits for a worker that has ended. */
    remove(worker: Worker): void {
      for (const round of rounds.values()) leave(round, worker);
    },
  };
};

/** A worker's part. */
export const createScrapeRequests = (report: (message: Report) => Promise<void>) => {
  const requests = new Map<number, (scrapes: readonly Scrape[] | undefined) => void>();
  let last = 0;
  return {
    /** The metrics of all workers; undefined when one of them does not report in time. */
    async all(): Promise<readonly Scrape[] | undefined> {
      last += 1;
      const request = last;
      const { promise, resolve } = Promise.withResolvers<readonly Scrape[] | undefined>();
      requests.set(request, resolve);
      // The primary answers in any case, unless it has ended.
      const timer = setTimeout(resolve, 2 * timeout, undefined);
      try {
        await report({ kind: "scrape all", request });
        return await promise;
      } finally {
        clearTimeout(timer);
        requests.delete(request);
      }
    },
    receive({ request, scrapes }: Extract<Order, { kind: "scrapes" }>): void {
      requests.get(request)?.(scrapes);
    },
  };
};
