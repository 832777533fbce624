// An HTTP proxy before a server, through which a test decides what reaches clients: everything, silence, or no connection.
import { once } from "node:events";
import { createServer, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { TestContext } from "node:test";

export interface Gate {
  readonly url: string;
  /** The streams that are open through it now. */
  readonly streams: () => number;
  /** Requests go through, and those without a response fail. */
  open(): Promise<void>;
  /** Requests get no response, and open streams end. */
  hang(): Promise<void>;
  /** Nothing listens. */
  shut(): Promise<void>;
}

const isStream = /^\/(api\/v1\/stream|ofrep\/v1\/events)\b/;

export const gateBefore = async (
  context: Pick<TestContext, "after">,
  server: string,
): Promise<Gate> => {
  let isHanging = false;
  const streams = new Set<ServerResponse>();
  const proxy = createServer((incoming, outgoing) => {
    if (isHanging) return;
    const { method, url = "/", headers } = incoming;
    if (isStream.test(url)) {
      streams.add(outgoing);
      outgoing.on("close", () => streams.delete(outgoing));
    }
    const forwarded = send(new URL(url, server), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      pipeline(response, outgoing, () => undefined);
    });
    pipeline(incoming, forwarded, () => undefined);
    outgoing.on("close", () => forwarded.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const listen = async () => {
    if (proxy.listening) return;
    proxy.listen(port, "127.0.0.1");
    await once(proxy, "listening");
  };
  const shut = async () => {
    if (!proxy.listening) return;
    const closed = once(proxy, "close");
    proxy.close();
    proxy.closeAllConnections();
    await closed;
  };
  context.after(shut);

  return {
    url: `http://127.0.0.1:${port}`,
    streams: () => streams.size,
    async open() {
      isHanging = false;
      proxy.closeAllConnections();
      await listen();
    },
    async hang() {
      isHanging = true;
      proxy.closeAllConnections();
      await listen();
    },
    shut,
  };
};
