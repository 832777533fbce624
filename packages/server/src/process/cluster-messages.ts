// What the primary process and its workers say to each other.
import type { Config } from "../config/config.ts";
import type { Scrape } from "../telemetry/exposition.ts";

/** The primary to a worker. */
export type Order =
  | { readonly kind: "start"; readonly config: Config }
  | { readonly kind: "stop" }
  /** Say what your metrics are. */
  | { readonly kind: "scrape"; readonly round: number }
  /** The metrics that you wanted; undefined when a worker has not told its own in time. */
  | {
      readonly kind: "scrapes";
      readonly wish: number;
      readonly scrapes: readonly Scrape[] | undefined;
    };

/** A worker to the primary. */
export type Report =
  | { readonly kind: "up"; readonly url: string }
  /** Somebody asks this worker for the metrics of all. */
  | { readonly kind: "scrapes wanted"; readonly wish: number }
  | { readonly kind: "scrape"; readonly round: number; readonly scrape: Scrape }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly trace: string | undefined;
      /** The message is a sentence for the operator. */
      readonly foreseen: boolean;
    };

/** Milliseconds after the wish to stop in which a worker must have ended; it is killed then. */
export const stopPatience = 25_000;
