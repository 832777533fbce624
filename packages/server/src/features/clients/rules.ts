// Who has a revision, and who lacks it: from what every instance tells of its clients and of itself.
import { disconnectTimeout, silentAfter } from "../../evaluation/clients/limits.ts";
import type {
  ClientConnection,
  InstanceEnvironment,
  InstanceInfo,
  KnownClient,
  UnlistedClients,
} from "../../evaluation/clients/report.ts";

export type ProgramState = "current" | "behind" | "lost";

/** An instance without a heartbeat for so long is lost. */
export const lostAfter = 6_000;
/** So many clients are listed, those that lag first. */
const maxListed = 1_000;

/** What one instance tells; all times are of one clock. */
export interface InstanceView extends InstanceInfo {
  readonly seenAt: number;
  readonly isLost: boolean;
  /** It was stopped: only its clients matter, which may be on their way to another. */
  readonly hasEnded: boolean;
  readonly environment: InstanceEnvironment | undefined;
}

export interface Target {
  readonly revision: number;
  readonly changedAt: number | null;
  /** Whether the revision of this name is one of the environment's: after a restored backup, the same number has another name. */
  readonly isKnown: (name: string) => boolean;
  readonly now: number;
}

interface Shown {
  readonly revision: number;
  readonly state: ProgramState;
  /** How many revisions it is behind. */
  readonly lag: number;
}

export interface ShownInstance extends Shown, InstanceInfo {
  readonly seenAt: number;
}

export interface ShownClient extends Shown {
  readonly id: string;
  readonly name: string;
  readonly sdk: string;
  readonly connection: ClientConnection;
  /** The name of the instance. */
  readonly instance: string;
  readonly appliedAt: number | null;
  readonly seenAt: number;
}

export interface Arrival {
  readonly revision: number;
  readonly changedAt: number | null;
  readonly reached: {
    readonly of: number;
    readonly have: number;
    /** Milliseconds from the change until the last of those who were there had it; null while some lag. */
    readonly within: number | null;
  };
  readonly told: number;
  readonly instances: readonly ShownInstance[];
  readonly clients: readonly ShownClient[];
  readonly clientsLeftOut: number;
}

/** Whether it counts as one that has the revision, and since when. */
interface Counted<T extends Shown> {
  readonly shown: T;
  readonly has: boolean;
  readonly appliedAt: number | null;
  readonly since: number;
}

const numberOf = (name: string): number => Number.parseInt(name, 10) || 0;

const hasRevision = (name: string, { revision, isKnown }: Target): boolean =>
  numberOf(name) >= revision && isKnown(name);

const lagOf = (name: string, target: Target): number =>
  Math.max(0, target.revision - numberOf(name));

const countInstance = (view: InstanceView, target: Target): Counted<ShownInstance> => {
  const { id, name, version, startedAt, seenAt, isLost, environment } = view;
  const revision = environment?.revision ?? "";
  const has = hasRevision(revision, target);
  const state = isLost ? "lost" : has ? "current" : "behind";
  return {
    shown: {
      ...{ id, name, version, startedAt, seenAt, state },
      revision: numberOf(revision),
      lag: lagOf(revision, target),
    },
    has,
    appliedAt: environment?.appliedAt ?? null,
    since: startedAt,
  };
};

/** A client as an instance knows it, with that instance. */
interface Entry {
  readonly client: KnownClient;
  readonly at: InstanceView;
}

const isConnected = ({ client, at }: Entry, now: number): boolean =>
  !at.isLost &&
  !at.hasEnded &&
  (client.connection === "stream" ||
    (client.connection === "poll" && now - client.seenAt < silentAfter));

/** Undefined when it is gone, or when nobody knows of a connection of it. */
const stateOf = (
  entries: readonly Entry[],
  has: boolean,
  { now }: Target,
): ProgramState | undefined => {
  if (entries.some(({ client }) => client.closed)) return undefined;
  if (entries.some((entry) => isConnected(entry, now))) return has ? "current" : "behind";
  // Its instance is lost, or it has not asked for long.
  if (entries.some(({ client }) => client.connection !== null)) return "lost";
  const ended = Math.max(...entries.map(({ client }) => client.endedAt ?? 0));
  if (now - ended >= disconnectTimeout) return undefined;
  return has ? "current" : "lost";
};

/** What it has told last: the highest revision of the environment, and the first time that it told so. */
const appliedOf = (entries: readonly Entry[], target: Target): KnownClient => {
  const clients = entries.map(({ client }) => client);
  const known = clients.filter(({ revision }) => target.isKnown(revision));
  return (known.length > 0 ? known : clients).reduce((one, other) => {
    const difference = numberOf(other.revision) - numberOf(one.revision);
    const isSooner = (other.appliedAt ?? Infinity) < (one.appliedAt ?? Infinity);
    return difference > 0 || (difference === 0 && isSooner) ? other : one;
  });
};

const countClient = (
  entries: readonly Entry[],
  target: Target,
): Counted<ShownClient> | undefined => {
  const applied = appliedOf(entries, target);
  const has = hasRevision(applied.revision, target);
  const state = stateOf(entries, has, target);
  if (state === undefined) return undefined;
  const rank = (entry: Entry): number =>
    isConnected(entry, target.now) ? 2 : entry.client.connection === null ? 0 : 1;
  const seenLast = (one: Entry, other: Entry) =>
    other.client.seenAt > one.client.seenAt ? other : one;
  const place = entries.reduce((one, other) =>
    rank(one) === rank(other) ? seenLast(one, other) : rank(other) > rank(one) ? other : one,
  );
  // An instance that knows only its stream has no name for it.
  const named = entries.find(({ client }) => client.name !== "")?.client ?? applied;
  return {
    shown: {
      ...{ id: applied.id, name: named.name, sdk: named.sdk },
      connection: place.client.connection ?? "stream",
      instance: place.at.name,
      revision: numberOf(applied.revision),
      state,
      lag: lagOf(applied.revision, target),
      appliedAt: applied.appliedAt,
      seenAt: Math.max(...entries.map(({ client }) => client.seenAt)),
    },
    has,
    appliedAt: applied.appliedAt,
    since: Math.min(...entries.map(({ client }) => client.since)),
  };
};

const groupClients = (views: readonly InstanceView[]): readonly (readonly Entry[])[] => {
  const groups = new Map<string, Entry[]>();
  for (const at of views) {
    for (const client of at.environment?.clients ?? []) {
      const name = `${client.keyId} ${client.id}`;
      const group = groups.get(name);
      if (group) group.push({ client, at });
      else groups.set(name, [{ client, at }]);
    }
  }
  return [...groups.values()];
};

const order: readonly ProgramState[] = ["lost", "behind", "current"];
const laggingFirst = (one: Shown & { name: string }, other: Shown & { name: string }): number =>
  order.indexOf(one.state) - order.indexOf(other.state) ||
  other.lag - one.lag ||
  (one.name < other.name ? -1 : 1);

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

const withinOf = (counted: readonly Counted<Shown>[], { changedAt }: Target): number | null => {
  if (changedAt === null) return null;
  // Those who came later had it from their beginning.
  const there = counted.filter(({ since }) => since <= changedAt);
  if (there.length === 0) return null;
  return Math.max(0, ...there.map(({ appliedAt }) => (appliedAt ?? changedAt) - changedAt));
};

export const arrivalOf = (views: readonly InstanceView[], target: Target): Arrival => {
  const living = views.filter(({ hasEnded }) => !hasEnded);
  const instances = living.map((view) => countInstance(view, target));
  const clients = groupClients(views).flatMap((entries) => countClient(entries, target) ?? []);
  const unlisted = living.flatMap(
    ({ environment }): readonly UnlistedClients[] => environment?.unlisted ?? [],
  );
  const programs: readonly Counted<Shown>[] = [...instances, ...clients];
  const unlistedCount = sum(unlisted.map(({ count }) => count));
  const of = programs.length + unlistedCount;
  const have =
    programs.filter(({ has }) => has).length +
    sum(unlisted.map(({ revision, count }) => (hasRevision(revision, target) ? count : 0)));
  const listed = clients
    .map(({ shown }) => shown)
    .sort(laggingFirst)
    .slice(0, maxListed);
  return {
    revision: target.revision,
    changedAt: target.changedAt,
    reached: { of, have, within: have === of ? withinOf(programs, target) : null },
    told: sum(
      living
        .filter(
          ({ isLost, environment }) => !isLost && hasRevision(environment?.revision ?? "", target),
        )
        .map(({ environment }) => environment?.notified ?? 0),
    ),
    instances: instances.map(({ shown }) => shown).sort(laggingFirst),
    clients: listed,
    clientsLeftOut: clients.length + unlistedCount - listed.length,
  };
};
