// What the HTTP side has done, in plain numbers that are only looked at when somebody asks for the metrics.
import { createTiming, type Timing } from "./timing.ts";

/** One method of one route. */
export interface RouteMeter {
  done(status: number, milliseconds: number): void;
}

export interface MeteredRoute {
  readonly method: string;
  /** The route's pattern, never the path that was asked for. */
  readonly route: string;
  readonly statuses: () => ReadonlyMap<number, number>;
  readonly timing: Timing;
}

/** Values handed out, by evaluations of one flag and of all together. */
export interface EvaluationCounts {
  on: number;
  off: number;
  error: number;
}

export const streamKinds = ["flags", "refetch"] as const;
export type StreamKind = (typeof streamKinds)[number];

export interface StreamCounts {
  open: number;
  opened: number;
}

export interface HttpMeter {
  /** The same one for the same method and route. */
  route(method: string, pattern: string): RouteMeter;
  routes(): readonly MeteredRoute[];
  readonly evaluations: EvaluationCounts;
  readonly streams: Readonly<Record<StreamKind, StreamCounts>>;
}

/** What else a client may put before a path becomes one name: it must not be able to make up new ones. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export const createHttpMeter = (): HttpMeter => {
  const meters = new Map<string, MeteredRoute & RouteMeter>();

  const create = (method: string, route: string): MeteredRoute & RouteMeter => {
    const others = new Map<number, number>();
    const timing = createTiming();
    // Nearly all of them, so they are counted without a look-up.
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
    evaluations: { on: 0, off: 0, error: 0 },
    streams: { flags: { open: 0, opened: 0 }, refetch: { open: 0, opened: 0 } },
  };
};
