// Load from a fixed number of kept connections, one request at a time on each, with as little work of its own as can be.
import { connect, type Socket } from "node:net";

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  /** The whole header, in the place of a key. */
  readonly authorization?: string;
  readonly body?: unknown;
}

export interface Load {
  /** Sends them all; gives requests a second. */
  run(count: number, requestOf: (index: number) => Request): Promise<number>;
  /** Sends one; gives milliseconds. */
  one(request: Request): Promise<number>;
  close(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("\r\n0\r\n\r\n");

const bytesOf = ({ method, path, key, authorization, body }: Request): string => {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (key !== undefined) head.push(`Authorization: Bearer ${key}`);
  if (authorization !== undefined) head.push(`Authorization: ${authorization}`);
  if (text !== "") {
    head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`);
  }
  return `${head.join("\r\n")}\r\n\r\n${text}`;
};

const exchange = (socket: Socket, request: Request): Promise<void> =>
  new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    /** Bytes of the body still to come; unknown until the head is complete. */
    let left: number | undefined;
    const settle = (error?: Error) => {
      socket.off("data", read).off("error", settle).off("close", ended);
      if (error) reject(error);
      else resolve();
    };
    const ended = () =>
      settle(new Error(`The server closed the connection: ${request.method} ${request.path}`));
    const read = (chunk: Buffer) => {
      if (left !== undefined) {
        left -= chunk.length;
        if (left === 0) settle();
        return;
      }
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = head.indexOf(headEnd);
      if (end === -1) return;
      const text = head.subarray(0, end).toString("latin1");
      if (!/^HTTP\/1\.1 2/.test(text)) {
        settle(new Error(`${request.method} ${request.path}: ${head.toString()}`));
        return;
      }
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
      if (length === undefined && /\r\ntransfer-encoding: chunked/i.test(text)) {
        if (head.subarray(end).includes(lastChunk)) settle();
        return;
      }
      left = Number(length ?? 0) - (head.length - end - headEnd.length);
      if (left === 0) settle();
    };
    socket.on("data", read).on("error", settle).on("close", ended);
    socket.write(bytesOf(request));
  });

export const openLoad = async (url: string, connections: number): Promise<Load> => {
  const port = Number(new URL(url).port);
  const sockets = await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect({ port, host: "127.0.0.1", noDelay: true });
          socket.once("connect", () => resolve(socket)).once("error", reject);
        }),
    ),
  );
  return {
    async run(count, requestOf) {
      let next = 0;
      const started = performance.now();
      await Promise.all(
        sockets.map(async (socket) => {
          while (next < count) {
            const request = requestOf(next);
            next += 1;
            await exchange(socket, request);
          }
        }),
      );
      return count / ((performance.now() - started) / 1_000);
    },
    async one(request) {
      const [socket] = sockets;
      if (!socket) throw new Error("There is no connection.");
      const started = performance.now();
      await exchange(socket, request);
      return performance.now() - started;
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
};
