// What the primary process and its workers say to each other.
import type { Config } from "../config/config.ts";
import type { Scrape } from "../telemetry/exposition.ts";

/** The primary to a worker. */
export type Order =
  | {
      readonly kind: "start";
      readonly config: Config;
      /** From 1: the one that takes the place of another has its number. */
      readonly number: number;
    }
  | { readonly kind: "stop" }
  /** Report your metrics. */
  | { readonly kind: "scrape"; readonly round: number }
  /** The metrics of all workers that you asked for; undefined when one of them did not report in time. */
  | {
      readonly kind: "scrapes";
      readonly request: number;
      readonly scrapes: readonly Scrape[] | undefined;
    };

/** A worker to the primary. */
export type Report =
  | { readonly kind: "up"; readonly url: string }
  /** A client asks this worker for the metrics of all. */
  | { readonly kind: "scrape all"; readonly request: number }
  | { readonly kind: "scrape"; readonly round: number; readonly scrape: Scrape }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly trace: string | undefined;
      /** The message is a sentence for the operator. */
      readonly foreseen: boolean;
    };

/** Milliseconds, beside the shutdown delay, after which a worker that was asked to stop is killed. */
export const workerStopTimeout = 25_000;
