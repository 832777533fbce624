// A request with a pending body, and the moment when the server stops listening.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface UnfinishedRequest {
  readonly socket: Socket;
  /** The prefix of request ids that the server's process creates. */
  readonly answeredBy: string;
  /** Sends the body. */
  finish(): void;
  /** The bytes received since the server requested the body. */
  answer(): string;
}

/** Starts the creation of a flag. The server has then read everything except the body. */
export const beginRequest = async (
  url: string,
  key: string,
  flag = "late",
): Promise<UnfinishedRequest> => {
  const body = JSON.stringify({ key: flag, type: "boolean" });
  const socket = connect(Number(new URL(url).port), "127.0.0.1").unref();
  // The first request of the connection shows which process has accepted it.
  socket.write("GET /healthz HTTP/1.1\r\nHost: halyard\r\n\r\n");
  const [health] = (await once(socket, "data")) as [Buffer];
  const [, answeredBy = ""] = /x-request-id: [^-]*-([^-\r]+)/i.exec(health.toString()) ?? [];
  socket.write(
    `POST /api/v1/flags HTTP/1.1\r\nHost: halyard\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 100 /);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  // If the connection is cut off, there is no response, which the test can check.
  socket.on("error", () => {});
  return { socket, answeredBy, finish: () => void socket.write(body), answer: () => answer };
};

/** Resolves when nothing listens at the address. */
export const nobodyListens = async (url: string): Promise<void> => {
  for (;;) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const refused = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
    });
    socket.destroy();
    if (refused) return;
  }
};
