// A receiver of callbacks on loopback that remembers every request and answers as it is told.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names as they came, with their values. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly at: number;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Undefined leaves the request without an answer. */
export type Script = (request: Received) => Reply | undefined | Promise<Reply | undefined>;

export interface ScriptedReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** From now on it answers so. */
  answer(script: Script): void;
  close(): Promise<void>;
}

export const accept: Script = () => ({ status: 204 });

export const startReceiver = async (first: Script = accept): Promise<ScriptedReceiver> => {
  const received: Received[] = [];
  let script = first;
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers, rawHeaders } = request;
    buffer(request)
      .then(async (body) => {
        const entry = { method, path, headers, rawHeaders, body, at: performance.now() };
        received.push(entry);
        const reply = await script(entry);
        if (reply) response.writeHead(reply.status, reply.headers).end(reply.body);
      })
      .catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer(next) {
      script = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
};
