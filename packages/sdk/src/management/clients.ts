// Which clients have applied a change, as the management API returns it.

interface Program {
  /** The revision that it has applied; 0 before its first report. */
  readonly revision: number;
  readonly state: "current" | "behind" | "lost";
  /** The number of revisions that it has not applied yet. */
  readonly lag: number;
  /** ISO 8601 in UTC. */
  readonly seenAt: string;
}

export interface ServerInstance extends Program {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly startedAt: string;
}

export interface ConnectedClient extends Program {
  readonly id: string;
  readonly name: string;
  readonly sdk: string;
  readonly connection: "stream" | "poll";
  /** The name of the instance that it is connected to. */
  readonly instance: string;
  readonly appliedAt: string | null;
}

export interface Programs {
  readonly revision: number;
  readonly changedAt: string | null;
  /** `within`: milliseconds until the last had it; null while some lag. */
  readonly reached: { readonly of: number; readonly have: number; readonly within: number | null };
  /** Streams that were told of it and do not say what they have applied. */
  readonly told: number;
  readonly instances: readonly ServerInstance[];
  /** Those that lag first. */
  readonly clients: readonly ConnectedClient[];
  readonly clientsLeftOut: number;
}

export interface ClientsQuery {
  /** Who has this revision; the newest by default. */
  readonly revision?: number;
}
