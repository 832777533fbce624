// An answer whose head and body are put together once and sent many times.
import type { ServerResponse } from "node:http";

export interface PreparedAnswer {
  /** Names and values in turns; the last value is the request id's, set for each request. */
  readonly head: string[];
  readonly body: string | Buffer;
}

/** Short bodies go out as text: Node then writes them together with the head. */
const longText = 4_096;

export const prepareAnswer = (
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): PreparedAnswer => ({
  head: [
    ...Object.entries(headers).flat(),
    "content-length",
    String(body.length),
    "x-request-id",
    "",
  ],
  body: body.length < longText ? body.toString() : body,
});

export const sendPrepared = (
  response: ServerResponse,
  { head, body }: PreparedAnswer,
  requestId: string,
  isLast: boolean,
): void => {
  // Node has read the head when writeHead comes back, so that the next request can have it.
  head[head.length - 1] = requestId;
  response.writeHead(200, isLast ? [...head, "connection", "close"] : head).end(body);
};
