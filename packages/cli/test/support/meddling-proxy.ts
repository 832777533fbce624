// A proxy between the command and the server that can act just before a request passes.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Called before each request. A result is returned as the response, instead of passing the request on. */
type Meddle = (
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
) => Promise<{ status: number; headers: Record<string, string>; body: string } | "cut" | undefined>;

export const meddlingProxy = async (
  context: TestContext,
  target: string,
  meddle: Meddle,
): Promise<string> => {
  const proxy = createServer((incoming, outgoing) => {
    void (async () => {
      const { method = "GET", url = "/", headers } = incoming;
      const instead = await meddle(method, url.replace(/^\/api\/v1/, ""), headers);
      if (instead === "cut") {
        incoming.socket.destroy();
        return;
      }
      if (instead) {
        incoming.resume();
        outgoing.writeHead(instead.status, instead.headers).end(instead.body);
        return;
      }
      const passed = send(new URL(url, target), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(passed);
    })();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  context.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
};
