// What an instance publishes, as text: short, since it is written after every change, and bounded.
import type { InstanceEnvironment, KnownClient } from "../../evaluation/clients/report.ts";

/** In characters, of all environments together. A client takes about 120. */
export const maxBodyLength = 1_048_576;

export interface InstanceReport {
  /** The instance was stopped. */
  readonly hasEnded: boolean;
  readonly environments: ReadonlyMap<number, InstanceEnvironment>;
}

type ClientRow = readonly [
  id: string,
  keyId: string,
  name: string,
  sdk: string,
  revision: string,
  connection: KnownClient["connection"],
  appliedAt: number | null,
  seenAt: number,
  since: number,
  endedAt: number | null,
  closed: 0 | 1,
];

interface EnvironmentBody {
  readonly revision: string;
  readonly appliedAt: number;
  readonly notified: number;
  readonly clients: readonly ClientRow[];
  readonly unlisted: Readonly<Record<string, number>>;
}

interface Body {
  readonly ended?: true;
  readonly environments: Readonly<Record<string, EnvironmentBody>>;
}

const rowOf = (client: KnownClient): ClientRow => [
  client.id,
  client.keyId,
  client.name,
  client.sdk,
  client.revision,
  client.connection,
  client.appliedAt,
  client.seenAt,
  client.since,
  client.endedAt,
  client.closed ? 1 : 0,
];

const clientOf = (row: ClientRow): KnownClient => ({
  id: row[0],
  keyId: row[1],
  name: row[2],
  sdk: row[3],
  revision: row[4],
  connection: row[5],
  appliedAt: row[6],
  seenAt: row[7],
  since: row[8],
  endedAt: row[9],
  closed: row[10] === 1,
});

interface SizedRow {
  readonly client: KnownClient;
  readonly row: ClientRow;
  readonly length: number;
}

/** Outdated clients come first. */
const rowsOf = ({ revision, clients }: InstanceEnvironment): readonly SizedRow[] => {
  const outOfDate = clients.filter((client) => client.revision !== revision);
  const current = clients.filter((client) => client.revision === revision);
  return [...outOfDate, ...current].map((client) => {
    const row = rowOf(client);
    return { client, row, length: JSON.stringify(row).length + 1 };
  });
};

/** Environments share the bound. Environments with few clients leave their unused share to the others. */
export const writeBody = ({ hasEnded, environments }: InstanceReport): string => {
  const smallestFirst = [...environments]
    .map(([id, environment]) => {
      const rows = rowsOf(environment);
      return { id, environment, rows, length: rows.reduce((sum, each) => sum + each.length, 0) };
    })
    .sort((one, other) => one.length - other.length);
  let left = maxBodyLength;
  let waiting = smallestFirst.length;
  const bodies: Record<string, EnvironmentBody> = {};
  for (const { id, environment, rows } of smallestFirst) {
    const { revision, appliedAt, notified } = environment;
    let share = Math.floor(left / waiting);
    const listed: ClientRow[] = [];
    // For the rest, only the number of connected clients per revision is published.
    const unlisted: Record<string, number> = {};
    for (const { client, row, length } of rows) {
      if (length <= share) {
        share -= length;
        left -= length;
        listed.push(row);
      } else if (client.connection !== null) {
        unlisted[client.revision] = (unlisted[client.revision] ?? 0) + 1;
      }
    }
    waiting -= 1;
    bodies[id] = { revision, appliedAt, notified, clients: listed, unlisted };
  }
  const body: Body = { ...(hasEnded && { ended: true }), environments: bodies };
  return JSON.stringify(body);
};

/** Of one environment. What another version has written and this one cannot read counts as nothing. */
export const readBody = (
  text: string,
  environmentId: number,
): { readonly hasEnded: boolean; readonly environment: InstanceEnvironment | undefined } => {
  try {
    const { ended, environments } = JSON.parse(text) as Body;
    const found = environments[environmentId];
    return {
      hasEnded: ended === true,
      environment: found && {
        revision: found.revision,
        appliedAt: found.appliedAt,
        notified: found.notified,
        clients: found.clients.map(clientOf),
        unlisted: Object.entries(found.unlisted).map(([revision, count]) => ({ revision, count })),
      },
    };
  } catch {
    return { hasEnded: false, environment: undefined };
  }
};
