// A request whose body is still to come, and the moment when nobody listens any more.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface UnfinishedRequest {
  readonly socket: Socket;
  /** What the server's process puts into the request ids that it makes. */
  readonly answeredBy: string;
  /** Sends the body. */
  finish(): void;
  /** What has come back since the server asked for the body. */
  answer(): string;
}

/** Makes a flag; the server is known to have read all but the body. */
export const beginRequest = async (
  url: string,
  key: string,
  flag = "late",
): Promise<UnfinishedRequest> => {
  const body = JSON.stringify({ key: flag, type: "boolean" });
  const socket = connect(Number(new URL(url).port), "127.0.0.1").unref();
  // The first request of the connection shows which process has it.
  socket.write("GET /healthz HTTP/1.1\r\nHost: halyard\r\n\r\n");
  const [health] = (await once(socket, "data")) as [Buffer];
  const [, answeredBy = ""] = /x-request-id: [^-]*-([^-\r]+)/i.exec(health.toString()) ?? [];
  socket.write(
    `POST /api/v1/flags HTTP/1.1\r\nHost: halyard\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const [asked] = (await once(socket, "data")) as [Buffer];
  assert.match(asked.toString(), /^HTTP\/1\.1 100 /);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  // One that is cut off has no answer: that is for the test to see.
  socket.on("error", () => {});
  return { socket, answeredBy, finish: () => void socket.write(body), answer: () => answer };
};

/** Comes back when nothing listens there any more. */
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
