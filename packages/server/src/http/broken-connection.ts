// What never became a request: malformed HTTP, headers too large, a client too slow. Answered in our own shape, then closed.

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { errorBody, jsonType } from "./error-reply.ts";

const answerOf = (code: string | undefined): { status: number; message: string } => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, message: "The headers are larger than 16 KiB." };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." };
    default:
      return { status: 400, message: "The request is not valid HTTP." };
  }
};

export const handleBrokenConnection = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = answerOf(error.code);
  const body = errorBody({ code: "VALIDATION_FAILED", message });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${jsonType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
};
