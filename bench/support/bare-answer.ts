// What the bare servers answer with: one answer of Halyard, as bench/http.ts has written it down.
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { keepNextTickFast } from "../../packages/server/src/process/next-tick-workaround.ts";

export interface KeptAnswer {
  /** Names and values in turns, without those that Node adds by itself. */
  readonly head: readonly string[];
  readonly body: string;
}
/** How a bare server sends it: the body as bytes or as text, all of the head or only the type and the length. */
export const wayFlags = { text: "--text", fewHeaders: "--few-headers" } as const;

const [, , file = "", ...ways] = process.argv;
const kept = (): KeptAnswer => JSON.parse(readFileSync(file, "utf8")) as KeptAnswer;

/** Text is a little faster when it is short: Node writes it together with the head. */
export const bodyOf = (): string | Buffer => {
  const { body } = kept();
  return ways.includes(wayFlags.text) ? body : Buffer.from(body);
};

export const headOf = (): string[] => {
  const { head } = kept();
  if (!ways.includes(wayFlags.fewHeaders)) return [...head];
  return ["content-type", "content-length"].flatMap((name) => {
    const at = head.indexOf(name);
    if (at === -1) throw new Error(`The answer has no ${name}.`);
    return head.slice(at, at + 2);
  });
};

export const listenHere = (server: Server): void => {
  // As Halyard does: without it a garbage collection would slow down this side alone.
  void keepNextTickFast();
  // As long as Halyard keeps them: what it says of it is part of the head.
  server.keepAliveTimeout = 72_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address) console.log(`http://127.0.0.1:${address.port}/`);
  });
};
