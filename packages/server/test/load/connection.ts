// One connection of a client under load: asks, reads the answer, comes back when it was closed, with little work of its own.
import { connect, type Socket } from "node:net";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly head: string;
  readonly text: string;
  readonly milliseconds: number;
}

/** Refused by the system, or cut by the server before an answer. */
export type Cut = "cut";

const bytesOf = ({ method, path, key, body }: Asked): string => {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (key !== undefined) head.push(`Authorization: Bearer ${key}`);
  if (text !== "") {
    head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`);
  }
  return `${head.join("\r\n")}\r\n\r\n${text}`;
};

export interface Connection {
  ask(asked: Asked): Promise<Answered | Cut>;
  close(): void;
}

export const createConnection = (url: string): Connection => {
  const port = Number(new URL(url).port);
  let socket: Socket | undefined;
  let received = "";
  let settle: ((answered: Answered | Cut) => void) | undefined;
  let askedAt = 0;

  const finish = (answered: Answered | Cut): void => {
    const done = settle;
    settle = undefined;
    received = "";
    done?.(answered);
  };
  const read = (chunk: string): void => {
    received += chunk;
    const end = received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = received.slice(0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (received.length - end - 4 < length) return;
    const text = received.slice(end + 4, end + 4 + length);
    if (/\r\nconnection: close/i.test(head)) close();
    const milliseconds = performance.now() - askedAt;
    finish({ status: Number(head.slice(9, 12)), head, text, milliseconds });
  };
  const close = (): void => {
    socket?.destroy();
    socket = undefined;
  };
  const open = (): Socket => {
    const opened = connect({ port, host: "127.0.0.1", noDelay: true });
    opened.setEncoding("latin1");
    opened.on("data", read);
    opened.on("error", () => {});
    opened.on("close", () => {
      if (opened !== socket) return;
      socket = undefined;
      finish("cut");
    });
    return opened;
  };

  return {
    ask(asked) {
      return new Promise((resolve) => {
        settle = resolve;
        socket ??= open();
        askedAt = performance.now();
        socket.write(bytesOf(asked));
      });
    },
    close,
  };
};
