// What one connection may hold: requests of it are handled one after the other, and who does not read is cut off.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of a connection that may wait for the one before. Hardly any client sends a second one ahead. */
const maxPipelined = 32;

/** Kept on the connection itself: a map of all connections takes longer. */
const waiting = Symbol("waiting requests");
interface Connection extends Socket {
  [waiting]?: number;
}

/**
 * To be called when every other listener of requests is there. A connection has one answer at a time in memory, however
 * many requests it sends ahead.
 */
export const serveInTurn = (
  server: Server,
  arrived: (socket: Socket, response: ServerResponse) => void,
): void => {
  const listeners = server.listeners("request");
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.removeAllListeners("request").on("request", (request, response) => {
    const socket = request.socket as Connection;
    arrived(socket, response);
    // Node gives the socket to one answer at a time, in the order of the requests.
    if (response.socket) {
      serve(request, response);
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
      serve(request, response);
    });
  });
};

/** Cuts off a client that has read nothing for so many milliseconds, or up to twice as many, though something is there for it. */
export const limitSending = (server: Server, milliseconds: number): void => {
  server.setTimeout(milliseconds, (socket) => {
    // Node's own limit on connections without a request, which is longer than any that can be set here.
    if (socket.timeout !== milliseconds) socket.destroy();
    // Otherwise it waits for us, or is still sending its request, which has a limit of its own.
    else if (socket.writableLength > 0) socket.resetAndDestroy();
  });
};
