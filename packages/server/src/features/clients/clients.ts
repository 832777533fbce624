// GET /clients: which instances and clients have a revision of the environment.

import type {
  InstanceEnvironment,
  InstanceInfo,
  KnownClient,
  StoredInstance,
} from "../../evaluation/clients/report.ts";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Clock, Reader } from "../../platform/database/store.ts";
import { noEnvironment, ok, type Result } from "../../platform/errors.ts";
import { readBody } from "./instance-body.ts";
import type { Publisher } from "./publish.ts";
import { type Arrival, arrivalOf, type InstanceView, lostAfter } from "./rules.ts";

/** An environment in memory. */
interface EnvironmentRevisions {
  readonly revision: number;
  readonly changedAt: Date | null;
  /** Undefined when it does not know the revision of this name. */
  since(name: string): object | undefined;
}

export interface ArrivalDependencies {
  readonly store: Pick<Reader, "changesAfter">;
  readonly publisher: Pick<Publisher, "others">;
  readonly self: InstanceInfo;
  /** What this instance has of an environment. */
  readonly own: (environmentId: number) => InstanceEnvironment;
  readonly memory: {
    readonly get: (environmentId: number) => EnvironmentRevisions | undefined;
    /** When it resolves, all that was committed before the call is in memory. */
    readonly current: () => Promise<void>;
  };
  readonly clock: Clock;
}

export interface Arrivals {
  /** Of a revision, or of the newest. */
  readonly of: (environment: EnvironmentRef, revision?: number) => Promise<Result<Arrival>>;
}

/** The times of another instance by our clock: both have told the database's time by theirs. */
const shifted = (environment: InstanceEnvironment, by: number): InstanceEnvironment => {
  const shift = (time: number | null) => (time === null ? null : time + by);
  const shiftClient = (client: KnownClient): KnownClient => ({
    ...client,
    seenAt: client.seenAt + by,
    since: client.since + by,
    appliedAt: shift(client.appliedAt),
    endedAt: shift(client.endedAt),
  });
  return {
    ...environment,
    appliedAt: environment.appliedAt + by,
    clients: environment.clients.map(shiftClient),
  };
};

const viewOf = (stored: StoredInstance, environmentId: number, now: number): InstanceView => {
  const { id, name, version, startedAt, clock, age } = stored;
  const by = now - age - clock;
  const { hasEnded, environment } = readBody(stored.body, environmentId);
  return {
    ...{ id, name, version, hasEnded },
    startedAt: startedAt + by,
    seenAt: now - age,
    isLost: age >= lostAfter,
    environment: environment && shifted(environment, by),
  };
};

export const createArrivals = (dependencies: ArrivalDependencies): Arrivals => {
  const { store, publisher, self, own, memory, clock } = dependencies;

  const changedAtOf = async (id: number, revision: number): Promise<number | null> => {
    const [change] = revision < 1 ? [] : await store.changesAfter(id, revision - 1, 1);
    return change?.revision === revision ? change.at.getTime() : null;
  };

  return {
    async of({ id }, wanted) {
      // Before memory is brought up to date: whatever a client has applied by now is then known here.
      const stored = await publisher.others();
      await memory.current();
      const environment = memory.get(id);
      if (!environment) return noEnvironment;
      const revision = wanted ?? environment.revision;
      const changedAt =
        revision === environment.revision
          ? (environment.changedAt?.getTime() ?? null)
          : await changedAtOf(id, revision);
      const now = clock().getTime();
      const views: InstanceView[] = [
        { ...self, seenAt: now, isLost: false, hasEnded: false, environment: own(id) },
        ...stored.map((each) => viewOf(each, id, now)),
      ];
      const isKnown = (name: string) => environment.since(name) !== undefined;
      return ok(arrivalOf(views, { revision, changedAt, isKnown, now }));
    },
  };
};
