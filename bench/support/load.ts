// Load from a fixed number of kept connections, one request at a time on each, with as little work of its own as can be.
import { connect, type Socket } from "node:net";

export interface Request {
  readonly method: string;
  readonly path: string;
  /** The whole header. */
  readonly authorization?: string;
  readonly body?: unknown;
}

export interface Load {
  /** Sends them all, prepared before the clock starts; returns requests a second. */
  run(count: number, requestOf: (index: number) => Request): Promise<number>;
  close(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("\r\n0\r\n\r\n");
const lengthName = Buffer.from("\r\ncontent-length: ");
const lengthNameOfOthers = Buffer.from("\r\nContent-Length: ");

const bytesOf = ({ method, path, authorization, body }: Request): Buffer => {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (authorization !== undefined) head.push(`Authorization: ${authorization}`);
  if (text !== "") {
    head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`);
  }
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${text}`);
};

/** The length that the head of an answer promises. */
const lengthIn = (head: Buffer, end: number): number | undefined => {
  const within = head.subarray(0, end);
  // Found without making a text of it: the load is to cost as little as it can, whoever answers.
  const lower = within.indexOf(lengthName);
  const at = lower === -1 ? within.indexOf(lengthNameOfOthers) : lower;
  if (at === -1) return undefined;
  let length = 0;
  for (let index = at + lengthName.length; index < end; index += 1) {
    const digit = (head[index] ?? 0) - 48;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
  }
  return length;
};

type Done = (error?: Error) => void;

/** One connection: sends a request and calls back once the whole answer is there. */
const createLine = (socket: Socket) => {
  let asked: Buffer | undefined;
  let done: Done | undefined;
  let head: Buffer | undefined;
  /** Bytes of the body still to come; unknown until the head is complete. */
  let left: number | undefined;

  const firstLine = (): string => asked?.toString().split("\r\n", 1)[0] ?? "nothing asked";
  const settle: Done = (error) => {
    const tell = done;
    done = undefined;
    head = undefined;
    left = undefined;
    tell?.(error);
  };
  const readHead = (): void => {
    if (!head) return;
    const end = head.indexOf(headEnd);
    if (end === -1) return;
    // The first digit of the status.
    if (head[9] !== 0x32) {
      settle(new Error(`${firstLine()}: ${head.toString()}`));
      return;
    }
    const length = lengthIn(head, end);
    if (
      length === undefined &&
      /transfer-encoding: chunked/i.test(head.toString("latin1", 0, end))
    ) {
      if (head.subarray(end).includes(lastChunk)) settle();
      return;
    }
    left = (length ?? 0) - (head.length - end - headEnd.length);
    if (left === 0) settle();
  };
  socket
    .on("data", (chunk: Buffer) => {
      if (left === undefined) {
        head = head ? Buffer.concat([head, chunk]) : chunk;
        readHead();
        return;
      }
      left -= chunk.length;
      if (left === 0) settle();
    })
    .on("error", settle)
    .on("close", () => settle(new Error(`The server closed the connection: ${firstLine()}`)));

  return (request: Buffer, whenDone: Done): void => {
    asked = request;
    done = whenDone;
    if (socket.destroyed) settle(new Error(`The connection is closed: ${firstLine()}`));
    else socket.write(request);
  };
};

const connectTo = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject).once("connect", () => resolve(socket.off("error", reject)));
  });

export const openLoad = async (url: string, connections: number): Promise<Load> => {
  const port = Number(new URL(url).port);
  const sockets = await Promise.all(Array.from({ length: connections }, () => connectTo(port)));
  const lines = sockets.map(createLine);

  const send = (requests: readonly Buffer[]): Promise<void> =>
    new Promise((resolve, reject) => {
      let next = 0;
      let answered = 0;
      const goOn = (line: (typeof lines)[number]): void => {
        const request = requests[next];
        if (!request) return;
        next += 1;
        line(request, (error) => {
          answered += 1;
          if (error) reject(error);
          else if (answered === requests.length) resolve();
          else goOn(line);
        });
      };
      for (const line of lines) goOn(line);
    });
  return {
    async run(count, requestOf) {
      const length = Math.max(1, Math.round(count));
      const requests = Array.from({ length }, (_, index) => bytesOf(requestOf(index)));
      const started = performance.now();
      await send(requests);
      return requests.length / ((performance.now() - started) / 1_000);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
};
