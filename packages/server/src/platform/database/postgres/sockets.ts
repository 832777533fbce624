// The sockets of all connections to PostgreSQL, so that a server that does not answer cannot keep the process from exiting.
import { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** Milliseconds that a connection has to close by itself. */
const closeTimeout = 2_000;

export interface Sockets {
  readonly open: () => Socket;
  /** Waits for the connections to close, then destroys their sockets. */
  readonly closeAfter: (closing: Promise<unknown>) => Promise<void>;
}

export const createSockets = (): Sockets => {
  const sockets = new Set<Socket>();
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    async closeAfter(closing) {
      const answered = new AbortController();
      const tooLong = setTimeout(closeTimeout, undefined, { signal: answered.signal });
      await Promise.race([closing, tooLong]);
      answered.abort();
      await tooLong.catch(() => undefined);
      for (const socket of sockets) socket.destroy();
      await closing;
    },
  };
};
