// The sockets of all connections to PostgreSQL, so that a server that has gone silent cannot keep the process from ending.
import { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

const goodbyePatience = 2_000;

export interface Sockets {
  readonly open: () => Socket;
  /** Waits for a goodbye to be answered, but only for a while. */
  readonly closeAfter: (goodbye: Promise<unknown>) => Promise<void>;
}

export const createSockets = (): Sockets => {
  const sockets = new Set<Socket>();
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    async closeAfter(goodbye) {
      const answered = new AbortController();
      const tooLong = setTimeout(goodbyePatience, undefined, { signal: answered.signal });
      await Promise.race([goodbye, tooLong]);
      answered.abort();
      await tooLong.catch(() => undefined);
      for (const socket of sockets) socket.destroy();
      await goodbye;
    },
  };
};
