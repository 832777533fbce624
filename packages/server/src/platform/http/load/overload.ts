// Keeps the server responsive when more is asked than it can do: changes and reads are refused first, evaluation last, health never.
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Failure } from "../../errors.ts";
import { createLagLimit, watchLoop } from "./loop-lag.ts";
import { createShedCounter, type ShedCounts, type ShedKind, type ShedLog } from "./shed-counter.ts";

export interface OverloadDependencies {
  /** Connections at once. */
  readonly maxConnections: number;
  /** Of them from one address; 0 for no limit. */
  readonly maxPerAddress: number;
  /** Whom an address counts for. */
  readonly networkOf: (address: string) => string;
  /** Milliseconds that the event loop may be late before evaluation is refused; 0 for no limit. */
  readonly maxLag: number;
  readonly now: () => number;
  readonly log: ShedLog;
}

export interface OverloadFigures {
  readonly refused: ShedCounts;
  readonly isRefusing: boolean;
  readonly connections: number;
  /** Milliseconds that the event loop is late. */
  readonly lag: number;
}

export interface Shed {
  readonly failure: Failure;
  /** In seconds. */
  readonly retryAfter: number;
}

export interface Overload {
  /** Counts the connections of this server from now on. */
  watch(server: Server): void;
  /** Why a request that came at this time is to be refused; undefined when it is to be served. */
  check(request: IncomingMessage, at: number): ShedKind | undefined;
  /** Whether the connection is one too many, and closed after its first answer. */
  isExcess(socket: Socket): boolean;
  /** Counts a refusal, and gives its answer. */
  shed(kind: ShedKind): Shed;
  readonly figures: () => OverloadFigures;
  close(): void;
}

/** Changes and reads are refused at this part of the lag at which evaluation is. */
const managementShare = 0.2;
/** Milliseconds for which the loop must have been late. */
const sustained = { evaluation: 500, management: 100 } as const;
/** Connections beyond the limit that are kept for an answer; the others are cut at once. */
const maxExcess = 1_000;
/** Milliseconds in which such a connection must have asked for something. */
const excessTimeout = 5_000;

const failures: Readonly<Record<ShedKind, Failure>> = {
  management: {
    code: "UNAVAILABLE",
    message: "The server is overloaded; try again.",
  },
  evaluation: {
    code: "UNAVAILABLE",
    message: "The server is overloaded; try again.",
  },
  connection: {
    code: "UNAVAILABLE",
    message:
      "The server has reached its limit of connections, in total or from this address; try again.",
  },
  store: { code: "UNAVAILABLE", message: "The store is unavailable; try again." },
};

/** Counts the connections of each address. */
const createAddressCount = (most: number, networkOf: (address: string) => string) => {
  const counts = new Map<string, number>();
  return {
    /** What undoes it, or undefined when there are too many already. */
    add({ remoteAddress = "" }: Socket): (() => void) | undefined {
      if (most === 0) return () => undefined;
      const network = networkOf(remoteAddress);
      const count = (counts.get(network) ?? 0) + 1;
      if (count > most) return undefined;
      counts.set(network, count);
      return () => {
        const left = (counts.get(network) ?? 1) - 1;
        if (left === 0) counts.delete(network);
        else counts.set(network, left);
      };
    },
  };
};

const isAboutHealth = (url: string): boolean => /^\/(?:healthz|readyz|metrics)(?:\?|$)/.test(url);

export const createOverload = (dependencies: OverloadDependencies): Overload => {
  const { now, maxConnections, maxPerAddress, maxLag } = dependencies;
  const shedCounter = createShedCounter(now, dependencies.log);
  const evaluation = createLagLimit(maxLag, sustained.evaluation, now());
  const management = createLagLimit(maxLag * managementShare, sustained.management, now());
  const loop = watchLoop(now, (late, at) => {
    evaluation.tick(late, at);
    management.tick(late, at);
    shedCounter.look(late);
  });
  const excess = new Set<Socket>();
  const byAddress = createAddressCount(maxPerAddress, dependencies.networkOf);
  let connections = 0;

  return {
    watch(server) {
      // After Node's own listener, which sets a timeout too.
      server.on("connection", (socket: Socket) => {
        connections += 1;
        const leaveAddress = byAddress.add(socket);
        const isTooMany = leaveAddress === undefined || connections - excess.size > maxConnections;
        if (isTooMany && excess.size >= maxExcess) {
          shedCounter.count("connection");
          socket.destroy();
        } else if (isTooMany) {
          excess.add(socket);
          socket.setTimeout(excessTimeout, () => socket.destroy());
        }
        socket.once("close", () => {
          connections -= 1;
          leaveAddress?.();
          excess.delete(socket);
        });
      });
    },

    check({ url = "", socket }, at) {
      const late = loop.late(at);
      // Nearly always, so this comes first.
      if (late <= management.milliseconds && excess.size === 0) return undefined;
      if (isAboutHealth(url)) return undefined;
      if (excess.has(socket)) return "connection";
      const isEvaluation = url.startsWith("/ofrep/");
      if (isEvaluation) return evaluation.isExceeded(late) ? "evaluation" : undefined;
      return management.isExceeded(late) ? "management" : undefined;
    },

    isExcess: (socket) => excess.size > 0 && excess.has(socket),

    shed(kind) {
      shedCounter.count(kind);
      // Not the same for all, or they would all come back at once.
      return { failure: failures[kind], retryAfter: 1 + (shedCounter.counts()[kind] % 3) };
    },

    figures: () => ({
      refused: shedCounter.counts(),
      isRefusing: shedCounter.isRefusing(),
      connections,
      lag: Math.max(0, loop.late(now())),
    }),
    close: () => loop.close(),
  };
};
