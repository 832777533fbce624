// The counts of all rooms as metric families: their names, their help and their labels are decided here.
import type { Backlog } from "../domain/delivery.ts";
import type { Audit } from "./audit.ts";
import type { DeliveryMeter } from "./delivery-meter.ts";
import { type HttpMeter, streamKinds } from "./http-meter.ts";
import { type StoreMeter, storeOperations } from "./store-meter.ts";
import type { Timing } from "./timing.ts";

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly value: number;
  readonly labels: Labels;
  /** Where it differs from the family's. */
  readonly metricName?: string;
}

/** How the values of several processes become one. */
type Aggregator = "sum" | "max" | "first";

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly aggregator: Aggregator;
  readonly values: readonly Sample[];
}

export interface Measured {
  readonly version: string;
  readonly http: HttpMeter;
  readonly deliveries: DeliveryMeter;
  readonly store: StoreMeter;
  readonly audit: Audit;
}

/** How the server bears what is asked of it. */
export interface LoadFigures {
  /** Requests refused, by what was asked for or what was short. */
  readonly refused: Readonly<Record<string, number>>;
  readonly connections: number;
}

const sample = (value: number, labels: Labels = {}): Sample => ({ value, labels });

const counter = (name: string, help: string, values: readonly Sample[]): Family => ({
  name: `halyard_${name}`,
  help,
  type: "counter",
  aggregator: "sum",
  values,
});

const gauge = (
  name: string,
  help: string,
  aggregator: Aggregator,
  values: readonly Sample[],
): Family => ({ name: `halyard_${name}`, help, type: "gauge", aggregator, values });

const histogram = (
  name: string,
  help: string,
  timings: readonly (readonly [Labels, Timing])[],
): Family => {
  const full = `halyard_${name}`;
  const values = timings.flatMap(([labels, timing]) => {
    const buckets = timing.buckets();
    return [
      ...buckets.map(({ upTo, count }) => ({
        metricName: `${full}_bucket`,
        value: count,
        labels: { ...labels, le: Number.isFinite(upTo) ? upTo : "+Inf" },
      })),
      { metricName: `${full}_sum`, value: timing.sum(), labels },
      { metricName: `${full}_count`, value: buckets.at(-1)?.count ?? 0, labels },
    ];
  });
  return { name: full, help, type: "histogram", aggregator: "sum", values };
};

const named = (counts: ReadonlyMap<string, number>, label: string): readonly Sample[] =>
  [...counts].map(([name, value]) => sample(value, { [label]: name }));

const httpFamilies = (http: HttpMeter, load: LoadFigures): readonly Family[] => {
  const routes = http.routes();
  const answeredWith = (status: number): number =>
    routes.reduce((sum, { statuses }) => sum + (statuses().get(status) ?? 0), 0);
  const { on, off, error } = http.evaluations;
  return [
    counter(
      "http_requests_total",
      "Requests answered, by route and status. Event streams are not among them.",
      routes.flatMap(({ method, route, statuses }) =>
        [...statuses()].map(([status, count]) => sample(count, { method, route, status })),
      ),
    ),
    histogram(
      "http_request_duration_seconds",
      "From the head of a request to its answer.",
      routes.map(({ method, route, timing }) => [{ method, route }, timing]),
    ),
    counter("refused_total", "Requests refused to protect the server, by reason.", [
      sample(answeredWith(401), { reason: "authentication" }),
      sample(answeredWith(429), { reason: "rate_limit" }),
      ...Object.entries(load.refused).map(([kind, count]) =>
        sample(count, { reason: `overload_${kind}` }),
      ),
    ]),
    gauge("connections_open", "Connections that are open now.", "sum", [sample(load.connections)]),
    counter(
      "evaluations_total",
      "Flags evaluated by this server, one by one or all together; error: no value could be given.",
      [
        sample(on, { value: "on" }),
        sample(off, { value: "off" }),
        sample(error, { value: "error" }),
      ],
    ),
    gauge(
      "streams_open",
      "Event streams that are open now.",
      "sum",
      streamKinds.map((kind) => sample(http.streams[kind].open, { kind })),
    ),
    counter(
      "streams_opened_total",
      "Event streams that were opened.",
      streamKinds.map((kind) => sample(http.streams[kind].opened, { kind })),
    ),
  ];
};

const deliveryFamilies = (
  { attempts, succeeded, failed, settled }: DeliveryMeter,
  backlog: Backlog | undefined,
  now: number,
): readonly Family[] => [
  counter(
    "delivery_attempts_total",
    "Calls of webhooks, by how they ended.",
    named(attempts, "outcome"),
  ),
  histogram("delivery_attempt_duration_seconds", "How long calls of webhooks took.", [
    [{ result: "success" }, succeeded],
    [{ result: "failure" }, failed],
  ]),
  counter("deliveries_settled_total", "Deliveries that are over: delivered, or given up.", [
    sample(settled.delivered, { outcome: "delivered" }),
    sample(settled.failed, { outcome: "given_up" }),
  ]),
  gauge(
    "deliveries_pending",
    "Deliveries in the store that are still to be made, counted up to 100000.",
    "max",
    backlog ? [sample(backlog.pending)] : [],
  ),
  gauge(
    "delivery_oldest_due_age_seconds",
    "For how long the oldest due delivery of an active webhook has been waiting.",
    "max",
    backlog ? [sample(Math.max(0, now - (backlog.oldestDueAt ?? now)) / 1_000)] : [],
  ),
];

const storeFamilies = (store: StoreMeter): readonly Family[] => [
  histogram(
    "store_duration_seconds",
    "Calls of the store: changes, reads, and the delivery worker's turns.",
    storeOperations.map((operation) => [{ operation }, store.operations[operation].timing]),
  ),
  counter(
    "store_errors_total",
    "Calls of the store that failed.",
    storeOperations.map((operation) => sample(store.operations[operation].errors, { operation })),
  ),
  gauge("requests_waiting", "Changes and reads that wait for an answer of the store.", "sum", [
    sample(store.operations.transaction.waiting + store.operations.read.waiting),
  ]),
  gauge(
    "store_look_age_seconds",
    "Since the last look at what other instances have changed; it comes twice a second.",
    "max",
    [sample(store.lookAge() / 1_000)],
  ),
];

/** `backlog` is undefined when the store could not tell. */
export const familiesOf = (
  { version, http, deliveries, store, audit }: Measured,
  load: LoadFigures,
  backlog: Backlog | undefined,
  now: number,
): readonly Family[] => [
  gauge("build_info", "1, with the version.", "first", [
    sample(1, { version, node: process.version }),
  ]),
  gauge("processes", "Processes that these metrics are of.", "sum", [sample(1)]),
  ...httpFamilies(http, load),
  counter("changes_total", "Changes by their name.", named(audit.changes, "action")),
  ...deliveryFamilies(deliveries, backlog, now),
  ...storeFamilies(store),
];
