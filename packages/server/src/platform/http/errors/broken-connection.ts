// What never became a request: malformed HTTP, headers too large, a client too slow. Answered in our own shape, then closed.
// Only types of node:http: importing a value of it into a module loads Node's fetch and WebSocket, which no server needs.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { errorBody, jsonType } from "./error-reply.ts";

const answerOf = (code: string | undefined): { status: string; message: string } => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: "431 Request Header Fields Too Large",
        message: "The headers are larger than 16 KiB.",
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: "408 Request Timeout", message: "The request took too long to arrive." };
    default:
      return { status: "400 Bad Request", message: "The request is not valid HTTP." };
  }
};

/** Kept on the connection itself: this is done for every request, and a map of all connections takes longer. */
const newestAnswer = Symbol("newest answer");
interface Connection extends Socket {
  [newestAnswer]?: ServerResponse;
}

export const trackResponse = (connection: Connection, answer: ServerResponse): void => {
  connection[newestAnswer] = answer;
};

export const handleBrokenConnection = (
  error: Error & { code?: string },
  socket: Connection,
): void => {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { [newestAnswer]: answer } = socket;
  if (answer?.req.complete && !answer.writableFinished) {
    // A whole request came first and may have changed something: it keeps its own answer.
    answer.once("finish", () => socket.end());
    return;
  }
  const { status, message } = answerOf(error.code);
  const body = errorBody({ code: "VALIDATION_FAILED", message });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      `content-type: ${jsonType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
};
