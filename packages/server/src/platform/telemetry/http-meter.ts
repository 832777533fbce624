// Counts requests, evaluations and streams in plain numbers that are read only by a scrape.
import type { EvaluationTotals } from "../../evaluation/usage/counts.ts";
import { createTiming, type Timing } from "./timing.ts";

/** One method of one route. */
export interface RouteMeter {
  done(status: number, milliseconds: number): void;
}

export interface MeteredRoute {
  readonly method: string;
  /** The route's pattern, never the requested path. */
  readonly route: string;
  readonly statuses: () => ReadonlyMap<number, number>;
  readonly timing: Timing;
}

export const streamKinds = ["flags", "refetch", "flagd"] as const;
export type StreamKind = (typeof streamKinds)[number];

export interface StreamCounts {
  open: number;
  opened: number;
}

export interface HttpMeter {
  /** The same one for the same method and route. */
  route(method: string, pattern: string): RouteMeter;
  routes(): readonly MeteredRoute[];
  readonly evaluations: EvaluationTotals;
  readonly streams: Readonly<Record<StreamKind, StreamCounts>>;
}

/** All other methods are counted as one, so that clients cannot create labels. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export const createHttpMeter = (): HttpMeter => {
  const meters = new Map<string, MeteredRoute & RouteMeter>();

  const create = (method: string, route: string): MeteredRoute & RouteMeter => {
    const others = new Map<number, number>();
    const timing = createTiming();
    // Status 200: nearly all of them, so counted without a look-up.
    let fine = 0;
    return {
      method,
      route,
      statuses: () => (fine === 0 ? others : new Map([[200, fine], ...others])),
      timing,
      done(status, milliseconds) {
        if (status === 200) fine += 1;
        else others.set(status, (others.get(status) ?? 0) + 1);
        timing.add(milliseconds);
      },
    };
  };

  return {
    route(method, pattern) {
      const name = `${method} ${pattern}`;
      const known = meters.get(name);
      if (known) return known;
      if (!methods.has(method) && method !== "other") return this.route("other", pattern);
      const made = create(method, pattern);
      meters.set(name, made);
      return made;
    },
    routes: () => [...meters.values()],
    evaluations: { on: 0, off: 0, error: 0, bulk: 0 },
    streams: {
      flags: { open: 0, opened: 0 },
      refetch: { open: 0, opened: 0 },
      flagd: { open: 0, opened: 0 },
    },
  };
};
