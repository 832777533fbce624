// Limits of a connection: its requests are handled one after the other, and a client that doesn't read is disconnected.
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestStep } from "../request/request-steps.ts";

/** Requests of a connection that may wait for the one before. Hardly any client sends ahead. */
const maxPipelined = 32;

/** Kept on the connection itself: a map of all connections takes longer. */
const waiting = Symbol("waiting requests");
interface Connection extends Socket {
  [waiting]?: number;
}

/** A connection has one response at a time in memory, however many requests it sends ahead. */
export const serializePipelined =
  (arrived: (socket: Socket, response: ServerResponse) => void): RequestStep =>
  (request, response, next) => {
    const socket = request.socket as Connection;
    arrived(socket, response);
    // Node gives the socket to one response at a time, in the order of the requests.
    if (response.socket) {
      next();
      return;
    }
    const count = (socket[waiting] ?? 0) + 1;
    socket[waiting] = count;
    if (count > maxPipelined) {
      socket.resetAndDestroy();
      return;
    }
    response.once("socket", () => {
      socket[waiting] = (socket[waiting] ?? 1) - 1;
      next();
    });
  };

/** Disconnects a client that reads nothing of its response for this long, or up to twice as long. */
export const limitSending = (server: Server, milliseconds: number): void => {
  server.setTimeout(milliseconds, (socket) => {
    // Node's own limit on connections without a request, which is longer than any that can be set here.
    if (socket.timeout !== milliseconds) socket.destroy();
    // Otherwise it waits for the server, or is still sending its request, which has its own limit.
    else if (socket.writableLength > 0) socket.resetAndDestroy();
  });
};
