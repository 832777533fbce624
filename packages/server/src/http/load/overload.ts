// Keeps the server answering when more is asked than it can do: changes and lists wait and are refused first, evaluation
// last, questions after its health never.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Failure } from "../../errors.ts";
import { trackResponse } from "../errors/broken-connection.ts";
import { errorBody, jsonType, protocolErrorBody, statusOf } from "../errors/error-reply.ts";
import type { Handle } from "../fast-path/fast-path.ts";
import { isOpenToPages, pageHeaders } from "../request/cors.ts";
import { watchLoop } from "./loop-lag.ts";
import { createWaitingRoom } from "./request-queue.ts";
import { createShedCounter, type ShedCounts, type ShedKind, type ShedLog } from "./shed-counter.ts";

export interface OverloadDependencies {
  /** Connections at once; 0 for no limit. */
  readonly maxConnections: number;
  /** Milliseconds that evaluation may have to wait for its turn; 0 for no limit. */
  readonly maxLag: number;
  /** Other requests that may wait for their turn. */
  readonly maxWaiting: number;
  readonly now: () => number;
  readonly log: ShedLog;
}

export interface OverloadFigures {
  readonly refused: ShedCounts;
  readonly isRefusing: boolean;
  readonly waiting: number;
  readonly connections: number;
  /** Milliseconds that the event loop is late. */
  readonly lag: number;
}

export interface GuardDependencies {
  /** What it stands before. */
  readonly serve: Handle;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Headers of every answer. */
  readonly commonHeaders: Readonly<Record<string, string>>;
}

export interface Overload {
  /** From now on only it listens to the server. */
  guard(server: Server, dependencies: GuardDependencies): void;
  /** Said by the store's side: somebody would have had to wait behind too many. */
  readonly storeIsCrowded: () => void;
  readonly figures: () => OverloadFigures;
  close(): void;
}

/** Milliseconds that the loop may be late before those who can wait do. */
const punctual = 10;
/** Milliseconds that others may wait for their turn: clients give up soon after. */
const waitingPatience = 5_000;
/** Connections beyond the limit that are kept for an answer; the others are cut at once. */
const maxExcess = 1_000;
/** Milliseconds in which such a connection must have asked for something. */
const excessPatience = 5_000;

const tooBusy: Failure = {
  code: "UNAVAILABLE",
  message: "The server has too much to do just now; try again.",
};
const tooMany: Failure = {
  code: "UNAVAILABLE",
  message: "The server has as many connections as it may; try again.",
};

const isAboutHealth = (url: string): boolean => /^\/(?:healthz|readyz|metrics)(?:\?|$)/.test(url);

export const createOverload = (dependencies: OverloadDependencies): Overload => {
  const { now, maxConnections, maxWaiting } = dependencies;
  const shedCounter = createShedCounter(now, dependencies.log);
  const loop = watchLoop({ now, maxLag: dependencies.maxLag, onTick: shedCounter.look });
  const excess = new Set<Socket>();
  let connections = 0;
  let waiting = () => 0;

  const guard = (
    server: Server,
    { serve, requestIdOf, commonHeaders }: GuardDependencies,
  ): void => {
    const fixedHeaders = { "content-type": jsonType, ...commonHeaders };

    const refuse = (
      request: IncomingMessage,
      response: ServerResponse,
      kind: ShedKind,
      failure: Failure,
    ): void => {
      shedCounter.count(kind);
      const { url = "" } = request;
      const body = url.startsWith("/ofrep/") ? protocolErrorBody(failure) : errorBody(failure);
      // Not the same for all, or they would all come back at once.
      const seconds = 1 + (shedCounter.counts()[kind] % 3);
      trackResponse(request.socket, response);
      response
        .writeHead(statusOf[failure.code], {
          ...fixedHeaders,
          ...(isOpenToPages(url) && pageHeaders),
          "x-request-id": requestIdOf(request),
          "retry-after": String(seconds),
          "content-length": String(Buffer.byteLength(body)),
          ...(kind === "connection" && { connection: "close" }),
        })
        .end(body);
    };

    const room = createWaitingRoom({
      now,
      // Who wants nothing to be refused for its lateness means that here too.
      patience: dependencies.maxLag === 0 ? Number.POSITIVE_INFINITY : waitingPatience,
      serve,
      refuse: (request, response) => refuse(request, response, "management", tooBusy),
    });
    waiting = room.waiting;

    /** For the moments in which not everybody is served at once. */
    const takeTurns: Handle = (request, response, at) => {
      const { url = "", socket } = request;
      if (isAboutHealth(url)) {
        if (excess.has(socket)) response.shouldKeepAlive = false;
        serve(request, response, at);
      } else if (excess.has(socket)) refuse(request, response, "connection", tooMany);
      else if (url.startsWith("/ofrep/")) {
        if (loop.isSustained() && loop.late(at) > dependencies.maxLag) {
          refuse(request, response, "evaluation", tooBusy);
        } else serve(request, response, at);
      } else if (loop.late(at) <= punctual && room.waiting() === 0) serve(request, response, at);
      else if (loop.isSustained() || room.waiting() >= maxWaiting) {
        refuse(request, response, "management", tooBusy);
      } else {
        trackResponse(socket, response);
        room.add(request, response);
      }
    };

    server.removeAllListeners("request").on("request", (request, response) => {
      // Read once for all who want to know it: this is done for every request.
      const at = now();
      if (loop.late(at) <= punctual && excess.size === 0 && room.waiting() === 0) {
        serve(request, response, at);
      } else takeTurns(request, response, at);
    });

    server.prependListener("connection", (socket: Socket) => {
      connections += 1;
      const isTooMany = maxConnections > 0 && connections - excess.size > maxConnections;
      if (isTooMany && excess.size >= maxExcess) {
        shedCounter.count("connection");
        socket.destroy();
      } else if (isTooMany) {
        excess.add(socket);
        socket.setTimeout(excessPatience, () => socket.destroy());
      }
      socket.once("close", () => {
        connections -= 1;
        excess.delete(socket);
      });
    });
  };

  return {
    guard,
    storeIsCrowded: () => shedCounter.count("store"),
    figures: () => ({
      refused: shedCounter.counts(),
      isRefusing: shedCounter.isRefusing(),
      waiting: waiting(),
      connections,
      lag: Math.max(0, loop.late(now())),
    }),
    close: () => loop.close(),
  };
};
