// Closes a connection whose client is still sending in a way that lets it read the answer.
import type { IncomingMessage } from "node:http";

/** Bytes that are read and thrown away; who sends more does not read the answer in any case. */
const mostBytes = 4 * 1_024 * 1_024;
const milliseconds = 5_000;

/**
 * Most clients send their whole request before they read. A connection that is closed with something unread is reset, and
 * they see that instead of the answer. So once the answer is sent, what comes is thrown away, for a while.
 */
export const lingerAfterAnswer = (request: IncomingMessage): void => {
  const { socket } = request;
  let left = mostBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  // What Node calls when the last answer of a connection is sent.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), milliseconds).unref();
    socket.once("close", () => clearTimeout(timer));
    if (request.complete) socket.destroy();
    else request.once("end", () => socket.destroy());
  };
};
