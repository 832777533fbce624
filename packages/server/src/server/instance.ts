// One instance of the server, as the process that runs it sees it.
import type { FastifyInstance } from "fastify";

import type { SamplePart } from "../evaluation/context-sample.ts";
import type { FlagdServer } from "../evaluation/flagd/grpc/server.ts";
import type { StreamSettings } from "../evaluation/streams/event-streams.ts";
import type { Environments } from "../features/environments/environments.ts";
import type { SignInLinks } from "../features/people/sign-in/links.ts";
import type { Clock, LookUp } from "../platform/database/store.ts";
import type { Scrape } from "../platform/telemetry/exposition.ts";

export interface Instance {
  readonly app: FastifyInstance;
  /** Undefined when there is to be none. */
  readonly flagdServer: FlagdServer | undefined;
  readonly environments: Environments;
  readonly signInLinks: SignInLinks;
  /** Webhooks and people whose secret was encrypted with a key that is missing. */
  readonly unreadableSecrets: () => Promise<readonly string[]>;
  /** The name of the database when all that is sent to it crosses a network unencrypted. */
  readonly unencryptedTo: string | undefined;
  /** The metrics of this instance alone. */
  scrape(): Promise<Scrape>;
  /** What this instance alone has sampled of the contexts of an environment; undefined when sampling is off. */
  samplePart(environmentId: number): SamplePart | undefined;
  /**
   * It is unready at once and continues to serve for `delay` milliseconds, until load balancers have noticed. A step that
   * fails does not keep the others from being done; it rejects after the last one.
   */
  close(delay?: number): Promise<void>;
}

/** For tests, and for what a worker shares with the others. The defaults fit every installation. */
export interface InstanceOptions {
  readonly clock?: Clock;
  readonly lookUp?: LookUp;
  /** Milliseconds for a delivery attempt, and for its connection. */
  readonly deliveryTimeout?: number;
  /** Milliseconds after which a client that hardly reads a large response is disconnected. */
  readonly slowReadInterval?: number;
  /** Milliseconds within which a client must send its whole request. */
  readonly requestTimeout?: number;
  /** Milliseconds for which a client may read nothing of its response. */
  readonly sendTimeout?: number;
  /** Requests that take this many milliseconds or more are logged. */
  readonly slowRequest?: number;
  /** Requests that may wait for the store at once. */
  readonly maxWaiting?: number;
  readonly streams?: Partial<StreamSettings>;
  /** The folder of the built dashboard. */
  readonly dashboardFolder?: string;
  /** The metrics of all workers; undefined when one of them does not report. */
  readonly scrapes?: () => Promise<readonly Scrape[] | undefined>;
  /** What all workers have sampled of the contexts of an environment. */
  readonly sampleParts?: (environmentId: number) => Promise<readonly SamplePart[]>;
  /** Its number among the workers of this machine. */
  readonly worker?: number;
}
