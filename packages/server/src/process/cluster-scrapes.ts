// The metrics of all workers for whoever asks one of them: the primary process, which all can reach, asks them all.
import type { Worker } from "node:cluster";
import type { Scrape } from "../telemetry/exposition.ts";
import type { Order, Report } from "./cluster-messages.ts";

/** A sum without one of them would look as if its counters had begun anew: it is not given. */
const patience = 2_000;

type ScrapeReport = Extract<Report, { kind: "scrapes wanted" | "scrape" }>;

/** The primary's part. */
export const createScrapeRounds = (
  live: () => Iterable<Worker>,
  tell: (worker: Worker, order: Order) => void,
) => {
  interface Round {
    readonly missing: Set<Worker>;
    readonly scrapes: Scrape[];
    end(): void;
  }
  const rounds = new Map<number, Round>();
  let last = 0;

  const begin = (asker: Worker, wish: number): void => {
    last += 1;
    const number = last;
    const missing = new Set(live());
    const scrapes: Scrape[] = [];
    const end = (): void => {
      clearTimeout(timer);
      rounds.delete(number);
      tell(asker, { kind: "scrapes", wish, scrapes: missing.size === 0 ? scrapes : undefined });
    };
    const timer = setTimeout(end, patience).unref();
    rounds.set(number, { missing, scrapes, end });
    for (const worker of missing) tell(worker, { kind: "scrape", round: number });
  };

  const leave = (round: Round, worker: Worker): void => {
    if (round.missing.delete(worker) && round.missing.size === 0) round.end();
  };

  return {
    hear(worker: Worker, report: ScrapeReport): void {
      if (report.kind === "scrapes wanted") {
        begin(worker, report.wish);
        return;
      }
      const round = rounds.get(report.round);
      if (!round) return;
      round.scrapes.push(report.scrape);
      leave(round, worker);
    },
    /** Nobody waits for one that is gone. */
    gone(worker: Worker): void {
      for (const round of rounds.values()) leave(round, worker);
    },
  };
};

/** A worker's part. */
export const createScrapeWishes = (report: (told: Report) => Promise<void>) => {
  const wishes = new Map<number, (scrapes: readonly Scrape[] | undefined) => void>();
  let last = 0;
  return {
    /** The metrics of all workers; undefined when they cannot be had. */
    async ask(): Promise<readonly Scrape[] | undefined> {
      last += 1;
      const wish = last;
      const { promise, resolve } = Promise.withResolvers<readonly Scrape[] | undefined>();
      wishes.set(wish, resolve);
      // The primary answers in any case, unless it is gone.
      const timer = setTimeout(resolve, 2 * patience, undefined);
      try {
        await report({ kind: "scrapes wanted", wish });
        return await promise;
      } finally {
        clearTimeout(timer);
        wishes.delete(wish);
      }
    },
    hear({ wish, scrapes }: Extract<Order, { kind: "scrapes" }>): void {
      wishes.get(wish)?.(scrapes);
    },
  };
};
