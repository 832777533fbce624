// What GET /clients answers.
export type ProgramState = "current" | "behind" | "lost";

interface Seen {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly state: ProgramState;
  /** Revisions behind. */
  readonly lag: number;
  readonly seenAt: string;
}

export interface ListedInstance extends Seen {
  readonly version: string;
  readonly startedAt: string;
}

export interface ListedClient extends Seen {
  readonly sdk: string;
  readonly connection: "stream" | "poll";
  /** The name of the instance that it is connected to. */
  readonly instance: string;
  readonly appliedAt: string | null;
}

export interface ClientList {
  readonly revision: number;
  readonly changedAt: string | null;
  readonly reached: {
    readonly of: number;
    readonly have: number;
    /** Milliseconds until the last one had it; null while some lag. */
    readonly within: number | null;
  };
  readonly told: number;
  readonly instances: readonly ListedInstance[];
  readonly clients: readonly ListedClient[];
  readonly clientsLeftOut: number;
}
