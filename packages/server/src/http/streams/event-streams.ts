// Open event streams: takes over the socket of an answer, keeps it alive, and ends it when it has to end.
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as yielded } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Failure, fail, ok, type Result } from "../../errors.ts";
import { createHttpMeter, type HttpMeter, type StreamKind } from "../../telemetry/http-meter.ts";
import type { Broadcaster, Positioned } from "./broadcaster.ts";

export interface StreamSettings {
  /** Milliseconds between two signs of life. */
  readonly heartbeat: number;
  /** Streams that may be open at once. */
  readonly maxStreams: number;
  /** Bytes that may wait for a reader, beside what it got when it came. */
  readonly maxUnsent: number;
}

export interface Subscriber extends Positioned {
  readonly socket: Socket;
  readonly response: ServerResponse;
  readonly keyId: string;
  readonly allowed: number;
  /** Bytes that had left for the reader at the last sign of life. */
  sent: number;
}

export interface Opening {
  readonly kind: StreamKind;
  readonly keyId: string;
  /** Undefined when the key is no longer good. */
  readonly begin: () => Beginning | undefined;
}

export interface Beginning {
  readonly frames: readonly Buffer[];
  /** Who is told the rest. */
  readonly broadcaster: Broadcaster<Subscriber>;
}

export interface EventStreams {
  /** Whether one more may be opened now. */
  admit(): Result<undefined>;
  open(reply: FastifyReply, opening: Opening): FastifyReply;
  readonly send: (subscriber: Subscriber, frame: Buffer) => void;
  /** Ends the streams of these keys. */
  readonly endOf: (keyIds: ReadonlySet<string>) => void;
  /** Ends all, and takes no more. */
  close(): void;
}

export const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
} as const;

/** Also tells a client that it is connected when there is nothing else to say. */
export const heartbeatFrame = Buffer.from(":\n\n");

/** Tells a client how many milliseconds to wait before it comes back. */
export const retryAfter = (milliseconds: number): Buffer =>
  Buffer.from(`retry: ${milliseconds}\n\n`);

/** So many groups take turns with their sign of life, so that they are not all written to at once. */
const groupCount = 30;
const batch = 100;

const closing: Failure = {
  code: "UNAVAILABLE",
  message: "The server is shutting down; try again.",
};
const full: Failure = {
  code: "UNAVAILABLE",
  message: "This server holds as many event streams as it may; try again later or elsewhere.",
};

/** What the client received last; empty when it comes for the first time. */
export const lastEventIdOf = ({ headers }: FastifyRequest): string => {
  const header = headers["last-event-id"];
  return typeof header === "string" ? header : "";
};

export const createEventStreams = (
  settings: StreamSettings,
  counts: HttpMeter["streams"] = createHttpMeter().streams,
  onFailed: (error: unknown) => void = () => undefined,
): EventStreams => {
  const groups = Array.from({ length: groupCount }, () => new Set<Subscriber>());
  let count = 0;
  let opened = 0;
  let closed = false;

  const send = ({ socket, allowed }: Subscriber, frame: Buffer): void => {
    if (!socket.writable) return;
    if (socket.writableLength > allowed) socket.destroy();
    else socket.write(frame);
  };

  const end = ({ socket, response }: Subscriber): void => {
    // What waits for a slow reader would hold the connection open.
    if (socket.writableLength > 0) socket.destroy();
    else response.end();
  };

  /** A reader to whom nothing has gone since the last sign of life, though something waits for it, is gone. */
  const isStuck = (subscriber: Subscriber): boolean => {
    const { socket } = subscriber;
    if (socket.writableLength === 0) return false;
    const sent = socket.bytesWritten - socket.writableLength;
    const stuck = sent === subscriber.sent;
    subscriber.sent = sent;
    return stuck;
  };

  const keepAlive = async (group: ReadonlySet<Subscriber>): Promise<void> => {
    let written = 0;
    for (const subscriber of group) {
      if (isStuck(subscriber)) subscriber.socket.destroy();
      else send(subscriber, heartbeatFrame);
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
    const { kind, keyId, begin } = opening;
    let beginning: Beginning | undefined;
    try {
      beginning = closed ? undefined : begin();
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
    const subscriber: Subscriber = { socket, response, keyId, allowed, sent: 0, position: 0 };
    const group = groups[opened % groupCount];
    opened += 1;
    count += 1;
    counts[kind].open += 1;
    counts[kind].opened += 1;
    group?.add(subscriber);
    broadcaster.add(subscriber);
    socket.once("close", () => {
      count -= 1;
      counts[kind].open -= 1;
      group?.delete(subscriber);
      broadcaster.delete(subscriber);
    });
    socket.setTimeout(0);
    response.flushHeaders();
    socket.cork();
    for (const frame of frames) socket.write(frame);
    socket.uncork();
  };

  return {
    admit() {
      if (closed) return fail(closing);
      return count < settings.maxStreams ? ok(undefined) : fail(full);
    },

    open(reply, opening) {
      const response = reply.hijack().raw;
      // Without a length and without chunks: the body ends with the connection. Every HTTP/1 reader and proxy knows that,
      // and the bytes of a frame are the same for all, so that it is made once and written to the bare sockets.
      response.shouldKeepAlive = false;
      response.removeHeader("transfer-encoding");
      response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...streamHeaders });
      if (reply.request.method === "HEAD") {
        response.end();
        return reply;
      }
      // It has none when the client is gone.
      if (response.socket) start(response, response.socket, opening);
      return reply;
    },

    send,
    endOf(keyIds) {
      for (const group of groups) {
        for (const subscriber of group) if (keyIds.has(subscriber.keyId)) end(subscriber);
      }
    },
    close() {
      closed = true;
      clearInterval(timer);
      for (const group of groups) for (const subscriber of group) end(subscriber);
    },
  };
};
