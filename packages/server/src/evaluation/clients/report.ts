// What an instance knows of its clients, and of itself: what it publishes for the others. Times are milliseconds.

/** What a client tells of itself. */
export interface ClientReport {
  /** Random, of each start of the program. */
  readonly id: string;
  readonly name: string;
  readonly sdk: string;
  /** The name of the revision that it has applied, see revisionName. */
  readonly revision: string;
}

export type ClientConnection = "stream" | "poll";

/** A client as one instance knows it. */
export interface KnownClient extends ClientReport {
  /** Its API key: an id counts only together with it, so that nobody speaks for the program of another key. */
  readonly keyId: string;
  /** Null when it only reports here: its stream may end at another instance, or has ended here. */
  readonly connection: ClientConnection | null;
  /** When its last stream ended; null while it has one, and when it never had one here. */
  readonly endedAt: number | null;
  /** It said that it stops. */
  readonly closed: boolean;
  /** When it told of its revision; null before it did. */
  readonly appliedAt: number | null;
  /** When it last asked for something. */
  readonly seenAt: number;
  /** When it was first seen. */
  readonly since: number;
}

/** Clients of which only the number is published, because there are too many. */
export interface UnlistedClients {
  /** That all of them have. */
  readonly revision: string;
  readonly count: number;
}

/** An environment as one instance has it. */
export interface InstanceEnvironment {
  /** The name of the revision. */
  readonly revision: string;
  readonly appliedAt: number;
  /** Streams that are told of a change and do not tell what they made of it. */
  readonly notified: number;
  readonly clients: readonly KnownClient[];
  readonly unlisted: readonly UnlistedClients[];
}

export interface InstanceInfo {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
}

/** An instance as the store has it. */
export interface StoredInstance extends InstanceInfo {
  /** The instance's clock at its last heartbeat. */
  readonly clock: number;
  /** How long ago that was, by the clock of the database. */
  readonly age: number;
  readonly body: string;
}
