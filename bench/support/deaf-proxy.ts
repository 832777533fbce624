// Stands before PostgreSQL and lets everything through but notifications: whoever listens hears nothing.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface DeafProxy {
  /** The given address, by way of the proxy. */
  readonly url: string;
  close(): void;
}

export const startDeafProxy = async (postgresUrl: string): Promise<DeafProxy> => {
  const target = new URL(postgresUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect({ port: Number(target.port), host: target.hostname });
    let asked = false;
    let isDeaf = false;
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    client.on("data", (chunk: Buffer) => {
      asked ||= chunk.includes("listen halyard");
      database.write(chunk);
    });
    database.on("data", (chunk: Buffer) => {
      if (isDeaf) return;
      client.write(chunk);
      // The answer to LISTEN is the last that comes through.
      isDeaf = asked;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(postgresUrl);
  url.port = String(typeof address === "object" && address ? address.port : 0);
  return {
    url: url.href,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
