// Bytes on a socket, for what no HTTP client would send.
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import type { Answer } from "./api.ts";

export interface RawAnswers {
  readonly answers: readonly Answer[];
  /** Everything that came back, until the server closed the connection. */
  readonly text: string;
}

/** Reads the answers that stand one after the other in the text; each has a Content-Length or no body. */
const readAnswers = (text: string): Answer[] => {
  const answers: Answer[] = [];
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`not an answer: ${rest.toString()}`);
    const [first = "", ...lines] = rest.subarray(0, end).toString().split("\r\n");
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const body = rest.subarray(end + 4, end + 4 + Number(headers.get("content-length") ?? 0));
    rest = rest.subarray(end + 4 + body.length);
    answers.push({
      status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]),
      headers,
      text: body.toString(),
      body: body.length > 0 ? JSON.parse(body.toString()) : undefined,
    });
  }
  return answers;
};

/** Writes the parts one after the other and reads until the server closes. */
export const exchange = async (
  url: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<RawAnswers> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  for (const part of parts) socket.write(part);
  const text = await readText(socket);
  socket.destroy();
  return { answers: readAnswers(text), text };
};
