// What programs have applied: what this instance knows, what it publishes, and who asks for it.
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { ChangeFeed } from "../evaluation/change-feed.ts";
import { type Clients, createClients } from "../evaluation/clients/connected-clients.ts";
import { silentAfter } from "../evaluation/clients/limits.ts";
import type { InstanceEnvironment, InstanceInfo } from "../evaluation/clients/report.ts";
import type { ChangeableSnapshots } from "../evaluation/snapshots.ts";
import { type Arrivals, createArrivals } from "../features/clients/clients.ts";
import type { InstanceReport } from "../features/clients/instance-body.ts";
import { alone, startPublisher } from "../features/clients/publish.ts";
import { random } from "../operator/operator.ts";
import type { Clock, Store } from "../platform/database/store.ts";
import type { Config } from "../process/settings/config.ts";
import { version } from "../version.ts";

export interface ArrivalParts {
  readonly config: Pick<Config, "database" | "workers" | "port">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly snapshots: ChangeableSnapshots;
  readonly feed: Pick<ChangeFeed, "current">;
  readonly keyTable: { onEnded(listener: Clients["endOf"]): () => void };
  /** Its number among the workers of this machine: another takes its place when it ends. */
  readonly worker: number | undefined;
  /** Takes what is to be closed. */
  readonly opened: AsyncDisposableStack;
}

const nameOf = ({ config: { port, workers }, worker = 1 }: ArrivalParts): string =>
  [hostname(), port > 0 ? `:${port}` : "", workers > 1 ? `/${worker}` : ""].join("");

export const composeArrival = (
  parts: ArrivalParts,
): { readonly clients: Clients; readonly arrivals: Arrivals } => {
  const { config, store, clock, log, snapshots, feed, keyTable, opened } = parts;
  const clients = createClients(clock);
  const startedAt = clock().getTime();
  const self: InstanceInfo = { id: random(8).toHex(), name: nameOf(parts), version, startedAt };
  const appliedAt = new Map<number, number>();

  const environmentOf = (
    environmentId: number,
    known: ReturnType<Clients["all"]>,
  ): InstanceEnvironment => ({
    revision: snapshots.get(environmentId)?.name ?? "",
    appliedAt: appliedAt.get(environmentId) ?? startedAt,
    ...(known.get(environmentId) ?? { notified: 0, clients: [] }),
    unlisted: [],
  });
  /** Whoever is connected when it ends is on its way to another instance. */
  const ended = (environment: InstanceEnvironment): InstanceEnvironment => ({
    ...environment,
    notified: 0,
    clients: environment.clients.map((client) =>
      client.connection === null
        ? client
        : { ...client, connection: null, endedAt: clock().getTime() },
    ),
  });
  const report = (hasEnded: boolean): InstanceReport => {
    const known = clients.all();
    const environments = new Map(
      snapshots.environmentIds().map((id) => {
        const environment = environmentOf(id, known);
        return [id, hasEnded ? ended(environment) : environment] as const;
      }),
    );
    return { hasEnded, environments };
  };

  const isAlone = config.database.kind === "embedded" && config.workers === 1;
  const publisher = isAlone
    ? alone
    : startPublisher(store, self, report, {
        clock,
        failed: (err) => log.warn({ err }, "what programs have applied could not be stored"),
      });
  opened.defer(() => publisher.close());
  clients.onChange(publisher.changed);
  opened.defer(
    snapshots.onChange(({ environmentId }) => {
      appliedAt.set(environmentId, clock().getTime());
      publisher.changed();
    }),
  );
  opened.defer(keyTable.onEnded(clients.endOf));
  const forgetting = setInterval(clients.forget, silentAfter).unref();
  opened.defer(() => clearInterval(forgetting));

  return {
    clients,
    arrivals: createArrivals({
      ...{ store, publisher, self, clock },
      own: (environmentId) => environmentOf(environmentId, clients.all()),
      memory: { get: (id) => snapshots.get(id), current: feed.current },
    }),
  };
};
