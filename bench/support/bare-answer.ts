// What the bare servers answer with: one answer of Halyard, as bench/http.ts has written it down.
import { readFileSync } from "node:fs";
import type { Server } from "node:http";

export interface KeptAnswer {
  /** Names and values in turns, without those that Node adds by itself. */
  readonly head: readonly string[];
  readonly body: string;
}
/** A bare server sends the body as bytes, or as text. */
export const wayFlags = { text: "--text" } as const;

const [, , file = "", ...ways] = process.argv;
const kept = (): KeptAnswer => JSON.parse(readFileSync(file, "utf8")) as KeptAnswer;

/** Text is a little faster when it is short: Node writes it together with the head. */
export const bodyOf = (): string | Buffer => {
  const { body } = kept();
  return ways.includes(wayFlags.text) ? body : Buffer.from(body);
};

export const headOf = (): string[] => [...kept().head];

export const listenHere = (server: Server): void => {
  // As long as Halyard keeps them: what it says of it is part of the head.
  server.keepAliveTimeout = 72_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
  });
};
