// Bytes on a socket instead of a well-behaved server: what every hostile receiver is made of.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { Worker } from "node:worker_threads";

export interface Listener {
  readonly port: number;
  /** Connections that were accepted. */
  readonly connections: () => number;
  /** Those of them that are open still. */
  readonly open: () => number;
  close(): Promise<void>;
}

const listen = async (server: Server): Promise<Listener> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    // The other side goes away whenever it has had enough.
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      if (server.listening) await once(server, "close");
    },
  };
};

export const listenPlain = (serve: (socket: Socket) => void): Promise<Listener> =>
  listen(createServer({ noDelay: true }, serve));

/** `serve` is reached by those who shake hands to the end. */
export const listenTls = (
  options: TlsOptions,
  serve: (socket: Socket) => void,
): Promise<Listener> =>
  listen(
    createTlsServer(options, (socket) => {
      socket.on("error", () => {});
      serve(socket);
    }),
  );

/** Does this when the first bytes of a request have come. */
export const afterRequest =
  (then: (socket: Socket) => void) =>
  (socket: Socket): void => {
    socket.once("data", () => then(socket));
    socket.resume();
  };

/** Writes the same again and again for as long as the other side takes it. */
export const pourInto = (socket: Socket, bytes: Uint8Array): void => {
  const pour = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", pour);
  pour();
};

/** Writes one piece each 100 ms, beginning again at the end, until the other side has gone. */
export const dripInto = (socket: Socket, text: string): void => {
  let next = 0;
  const timer = setInterval(() => {
    socket.write(text.charAt(next % text.length));
    next += 1;
  }, 100);
  socket.on("close", () => clearInterval(timer));
};

const neverAccepts = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    // With its loop blocked, the thread never takes a connection from the queue.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

/** Listens, but its queue is full and nobody empties it: the kernel leaves every further connection unanswered. */
export const listenWithoutAccepting = async (): Promise<Listener> => {
  const worker = new Worker(neverAccepts, { eval: true });
  const [port] = (await once(worker, "message")) as [number];
  const waiting: Socket[] = [];
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    waiting.push(socket);
    isFull = await Promise.race([
      once(socket, "connect").then(() => false),
      pause(500).then(() => true),
    ]);
  }
  return {
    port,
    connections: () => 0,
    open: () => 0,
    async close() {
      for (const socket of waiting) socket.destroy();
      await worker.terminate();
    },
  };
};
