// Open event streams: takes over the socket of an answer, keeps it alive, and ends it when it has to end.
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as yielded } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import type { StreamKind } from "../../platform/telemetry/http-meter.ts";
import type { Broadcaster, Positioned } from "./broadcaster.ts";
import { contentOf, frameOf } from "./frame.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { StreamHolder, StreamLimits } from "./stream-shares.ts";

export interface StreamSettings extends StreamLimits {
  /** Milliseconds between two heartbeats. */
  readonly heartbeat: number;
  /** Bytes that may wait for a reader, beside what it got when it came. */
  readonly maxUnsent: number;
}

export interface Subscriber extends Positioned {
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** False for readers of HTTP/1.0. */
  readonly isChunked: boolean;
  readonly allowed: number;
  /** Of a session: whether it is not over yet. */
  readonly isOpen: (() => Promise<boolean>) | undefined;
}

export interface Opening {
  readonly kind: StreamKind;
  readonly holder: StreamHolder;
  /** Of a session: asked at every heartbeat whether it is not over yet. */
  readonly isOpen?: (() => Promise<boolean>) | undefined;
  /** Called when the stream begins; what it returns is called when it has ended. */
  readonly opened?: (() => () => void) | undefined;
  /** Undefined when the key is no longer good. */
  readonly begin: () => Beginning | undefined;
}

export interface Beginning {
  readonly frames: readonly Buffer[];
  /** Who is told the rest. */
  readonly broadcaster: Broadcaster<Subscriber>;
}

export interface EventStreams {
  /** Answers with the stream, or says that there is no place for it. */
  open(reply: FastifyReply, opening: Opening): FastifyReply;
  readonly send: (subscriber: Subscriber, frames: readonly Buffer[]) => void;
  /** Ends all, and takes no more. */
  close(): void;
}

export const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
} as const;

/**
 * Also tells a client that it is connected when there is nothing else to say. Neither this nor the next ends with an empty
 * line: some readers take one for an event.
 */
export const heartbeatFrame = frameOf(":\n");

/** Tells a client how many milliseconds to wait before it comes back. */
export const retryAfter = (milliseconds: number): Buffer => frameOf(`retry: ${milliseconds}\n`);

/** Seconds after which a client that was given no place may try again. */
const tryAgainAfter = 5;

/** So many groups take turns with their heartbeat, so that they are not all written to at once. */
const groupCount = 30;
const batch = 100;

/** What the client received last; empty when it comes for the first time. */
export const lastEventIdOf = ({ headers }: FastifyRequest): string => {
  const header = headers["last-event-id"];
  return typeof header === "string" ? header : "";
};

export const createEventStreams = (
  settings: Pick<StreamSettings, "heartbeat" | "maxUnsent">,
  openStreams: OpenStreams,
  onFailed: (error: unknown) => void = () => undefined,
): EventStreams => {
  const groups = Array.from({ length: groupCount }, () => new Set<Subscriber>());
  let opened = 0;

  const write = ({ socket, isChunked }: Subscriber, frames: readonly Buffer[]): void => {
    const parts = isChunked ? frames : frames.flatMap(contentOf);
    const [first] = parts;
    if (parts.length === 1 && first) {
      socket.write(first);
      return;
    }
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
  };

  const send = (subscriber: Subscriber, frames: readonly Buffer[]): void => {
    const { socket, allowed } = subscriber;
    if (!socket.writable) return;
    if (socket.writableLength > allowed) socket.destroy();
    else write(subscriber, frames);
  };

  const end = ({ socket, response }: Subscriber): void => {
    // What waits for a slow reader would hold the connection open.
    if (socket.writableLength > 0) socket.destroy();
    else response.end();
  };

  const endWhenOver = async (subscriber: Subscriber): Promise<void> => {
    // While the store cannot be asked, the stream goes on as evaluation does.
    const isOver = (await subscriber.isOpen?.().catch(() => true)) === false;
    if (isOver) end(subscriber);
  };

  const heartbeat = [heartbeatFrame];
  const keepAlive = async (group: ReadonlySet<Subscriber>): Promise<void> => {
    let written = 0;
    for (const subscriber of group) {
      send(subscriber, heartbeat);
      void endWhenOver(subscriber);
      written += 1;
      if (written % batch === 0) await yielded();
    }
  };
  let turn = 0;
  const timer = setInterval(
    () => {
      turn = (turn + 1) % groupCount;
      const group = groups[turn];
      if (group && group.size > 0) void keepAlive(group);
    },
    Math.max(1, settings.heartbeat / groupCount),
  ).unref();

  const start = (response: ServerResponse, socket: Socket, opening: Opening): void => {
    const { kind, holder, isOpen, begin } = opening;
    let beginning: Beginning | undefined;
    try {
      beginning = begin();
    } catch (error) {
      // Nobody else sees it: the framework has handed the response over.
      onFailed(error);
      socket.destroy();
      return;
    }
    if (!beginning || socket.destroyed) {
      response.end();
      return;
    }
    const { frames, broadcaster } = beginning;
    const length = frames.reduce((sum, frame) => sum + frame.length, 0);
    const allowed = settings.maxUnsent + length;
    const subscriber: Subscriber = {
      socket,
      response,
      isChunked: response.chunkedEncoding,
      allowed,
      isOpen,
      position: 0,
    };
    const group = groups[opened % groupCount];
    const leave = openStreams.begin(kind, holder, () => end(subscriber));
    opened += 1;
    group?.add(subscriber);
    broadcaster.add(subscriber);
    const ended = opening.opened?.();
    socket.once("close", () => {
      leave();
      ended?.();
      group?.delete(subscriber);
      broadcaster.delete(subscriber);
    });
    response.flushHeaders();
    write(subscriber, frames);
  };

  return {
    open(reply, opening) {
      const admitted = openStreams.admit(opening.holder);
      if (!admitted.ok) {
        return sendFailure(reply.header("retry-after", tryAgainAfter), admitted.failure);
      }
      const response = reply.hijack().raw;
      // The frames go to the bare sockets and bring their chunks along, so that one copy of their bytes serves everyone. A
      // reader of HTTP/1.0 knows no chunks: its body ends with the connection.
      response.shouldKeepAlive = false;
      response.writeHead(200, {
        ...(reply.getHeaders() as OutgoingHttpHeaders),
        ...streamHeaders,
        ...(reply.request.raw.httpVersion !== "1.0" && { "transfer-encoding": "chunked" }),
      });
      if (reply.request.method === "HEAD") {
        response.end();
        return reply;
      }
      // It has none when the client is gone.
      if (response.socket) start(response, response.socket, opening);
      return reply;
    },

    send,
    close() {
      clearInterval(timer);
      openStreams.close();
    },
  };
};
