// All metrics with their names, help texts and labels.
import type { Backlog } from "../../features/webhooks/sending/batch.ts";
import type { Audit } from "./audit.ts";
import type { DeliveryMeter } from "./delivery-meter.ts";
import { type HttpMeter, streamKinds } from "./http-meter.ts";
import { type StoreMeter, storeOperations } from "./store-meter.ts";
import type { Timing } from "./timing.ts";

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly value: number;
  readonly labels: Labels;
  /** When it differs from the family's. */
  readonly metricName?: string;
}

/** How the values of several processes are combined. */
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
  /** Requests refused, by kind. */
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
  const { on, off, error, bulk } = http.evaluations;
  return [
    counter(
      "http_requests_total",
      "Requests answered, by route and status, without event streams.",
      routes.flatMap(({ method, route, statuses }) =>
        [...statuses()].map(([status, count]) => sample(count, { method, route, status })),
      ),
    ),
    histogram(
      "http_request_duration_seconds",
      "Time from the head of a request to its response.",
      routes.map(({ method, route, timing }) => [{ method, route }, timing]),
    ),
    counter("refused_total", "Requests refused to protect the server, by reason.", [
      sample(answeredWith(401), { reason: "authentication" }),
      sample(answeredWith(429), { reason: "rate_limit" }),
      ...Object.entries(load.refused).map(([kind, count]) =>
        sample(count, { reason: `overload_${kind}` }),
      ),
    ]),
    gauge("connections_open", "Open connections.", "sum", [sample(load.connections)]),
    counter(
      "evaluations_total",
      "Flags evaluated by this server, single and bulk; error: no value could be returned.",
      [
        sample(on, { value: "on" }),
        sample(off, { value: "off" }),
        sample(error, { value: "error" }),
      ],
    ),
    counter("bulk_evaluations_total", "Requests for all flags of an environment together.", [
      sample(bulk),
    ]),
    gauge(
      "streams_open",
      "Open event streams.",
      "sum",
      streamKinds.map((kind) => sample(http.streams[kind].open, { kind })),
    ),
    counter(
      "streams_opened_total",
      "Event streams opened.",
      streamKinds.map((kind) => sample(http.streams[kind].opened, { kind })),
    ),
  ];
};

const deliveryFamilies = (
  { attempts, succeeded, failed, finished }: DeliveryMeter,
  backlog: Backlog | undefined,
  now: number,
): readonly Family[] => [
  counter("delivery_attempts_total", "Delivery attempts, by outcome.", named(attempts, "outcome")),
  histogram("delivery_attempt_duration_seconds", "Duration of delivery attempts.", [
    [{ result: "success" }, succeeded],
    [{ result: "failure" }, failed],
  ]),
  counter("deliveries_settled_total", "Deliveries that ended: delivered, or given up.", [
    sample(finished.delivered, { outcome: "delivered" }),
    sample(finished.failed, { outcome: "given_up" }),
  ]),
  gauge(
    "deliveries_pending",
    "Pending deliveries in the store, counted up to 100000.",
    "max",
    backlog ? [sample(backlog.pending)] : [],
  ),
  gauge(
    "delivery_oldest_due_age_seconds",
    "Time for which the oldest due delivery of an active webhook has been waiting.",
    "max",
    backlog ? [sample(Math.max(0, now - (backlog.oldestDueAt ?? now)) / 1_000)] : [],
  ),
];

const storeFamilies = (store: StoreMeter): readonly Family[] => [
  histogram(
    "store_duration_seconds",
    "Duration of store calls: changes, reads, and batches of the delivery worker.",
    storeOperations.map((operation) => [{ operation }, store.operations[operation].timing]),
  ),
  counter(
    "store_errors_total",
    "Store calls that failed.",
    storeOperations.map((operation) => sample(store.operations[operation].errors, { operation })),
  ),
  gauge("requests_waiting", "Changes and reads that wait for the store.", "sum", [
    sample(store.operations.transaction.waiting + store.operations.read.waiting),
  ]),
  gauge(
    "store_look_age_seconds",
    "Time since this instance last read the changes of other instances; it does so twice a second.",
    "max",
    [sample(store.lookAge() / 1_000)],
  ),
];

/** `backlog` is undefined when the store did not answer. */
export const familiesOf = (
  { version, http, deliveries, store, audit }: Measured,
  load: LoadFigures,
  backlog: Backlog | undefined,
  now: number,
): readonly Family[] => [
  gauge("build_info", "1, labelled with the version.", "first", [
    sample(1, { version, node: process.version }),
  ]),
  gauge("processes", "Processes that these metrics cover.", "sum", [sample(1)]),
  ...httpFamilies(http, load),
  counter("changes_total", "Changes by name.", named(audit.changes, "action")),
  ...deliveryFamilies(deliveries, backlog, now),
  ...storeFamilies(store),
];
