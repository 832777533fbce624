// Sends one generated request over a connection that is kept, and gives the answer or says that there was none.
import { Agent, request as begin } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

export interface Request {
  readonly method: string;
  /** As it stands in the request line. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** What the client asked to be compressed, as it was before. */
const decoded = (bytes: Buffer, coding: string | undefined): string => {
  if (bytes.length === 0 || coding === undefined) return bytes.toString();
  return (coding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
};

/** Longer than anything that the server waits for. */
const patience = 600_000;

export interface Client {
  /** Undefined when the connection was cut before an answer. */
  send(request: Request): Promise<Answer | undefined>;
  close(): void;
}

export const createClient = (url: string, connections: number): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);

  const send = ({ method, target, headers, body }: Request): Promise<Answer | undefined> =>
    new Promise((resolve, reject) => {
      const outgoing = begin({
        agent,
        hostname,
        port,
        method,
        path: target,
        headers: {
          ...headers,
          ...(body && { "content-length": String(body.length) }),
        },
      });
      outgoing.setTimeout(patience, () => {
        reject(new Error(`${method} ${target} was not answered within ${patience} ms`));
        outgoing.destroy();
      });
      // What a server that refuses a body has already sent may still be on its way.
      outgoing.on("error", () => setImmediate(resolve, undefined));
      outgoing.on("response", (incoming) => {
        const chunks: Buffer[] = [];
        const isStream = incoming.headers["content-type"]?.startsWith("text/event-stream");
        const finish = () => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Answer["headers"],
            text: decoded(Buffer.concat(chunks), incoming.headers["content-encoding"]),
          });
        };
        incoming.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          if (!isStream) return;
          finish();
          outgoing.destroy();
        });
        incoming.on("end", finish);
        incoming.on("error", () => setImmediate(resolve, undefined));
      });
      outgoing.end(body);
    });
  return { send, close: () => agent.destroy() };
};
