// A real HTTP server whose answers a test writes itself: for the cases that a sound server never shows.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { Flag } from "@halyard/sdk";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Answer = (response: ServerResponse, request: Received) => unknown;

export interface ScriptedServer {
  readonly url: string;
  /** Every request so far, oldest first. */
  readonly received: readonly Received[];
  /** The requests for this method and path, without the query. */
  to(route: string): readonly Received[];
  /** From now on. */
  answer(route: string, answer: Answer): void;
  /** Every open connection is cut without a word. */
  cut(): void;
  /** Nothing listens any more, until `listen`. */
  stop(): Promise<void>;
  listen(): Promise<void>;
}

export const scriptedServer = async (
  context: TestContext,
  answers: Readonly<Record<string, Answer>> = {},
): Promise<ScriptedServer> => {
  const routes = new Map(Object.entries(answers));
  const received: Received[] = [];
  const routeOf = ({ method, url }: Received) => `${method} ${url.replace(/\?.*$/s, "")}`;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const entry: Received = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: await text(request),
    };
    received.push(entry);
    const answer = routes.get(routeOf(entry));
    if (answer === undefined) response.writeHead(404).end();
    else await answer(response, entry);
  };
  const server = createServer((request, response) => {
    // A client that goes away in the middle of its request is what some tests are about.
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  context.after(stop);

  return {
    url: `http://127.0.0.1:${port}`,
    received,
    to: (route) => received.filter((entry) => routeOf(entry) === route),
    answer: (route, answer) => void routes.set(route, answer),
    cut: () => server.closeAllConnections(),
    stop,
    async listen() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
  };
};

export const booleanFlag = (key: string, enabled: boolean): Flag => ({
  key,
  type: "boolean",
  enabled,
  description: null,
});

export const openStream = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.write("retry: 20\n\n");
};

/** A flag that came with a level. */
export interface FlagWithLevel {
  readonly flag: Flag;
  readonly level: number;
}
type Sent = Flag | FlagWithLevel;

const entryOf = (sent: Sent | null) =>
  sent !== null && "flag" in sent ? { ...sent } : { flag: sent };

/** What `GET /api/v1/snapshot` gives, and the stream's snapshot event. */
export const snapshotOf = (...flags: readonly Sent[]) => ({
  environment: "production",
  revision: 1,
  at: null,
  flags: flags.map((sent) => ({ version: 1, ...entryOf(sent) })),
});

export const snapshotText = (id: string, ...flags: readonly Sent[]): string =>
  `id: ${id}\nevent: snapshot\ndata: ${JSON.stringify(snapshotOf(...flags))}\n\n`;

export const changeText = (id: string, key: string, flag: Sent | null): string => {
  const data = { revision: 2, at: null, key, version: 2, ...entryOf(flag) };
  return `id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
};

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** Pauses so short that a test need not wait for them. */
export const quick = {
  minimumDelay: 5,
  maximumDelay: 20,
  pollInterval: 20,
  usageInterval: 20,
} as const;
