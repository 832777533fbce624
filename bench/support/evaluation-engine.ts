// One engine in a process of its own, so that none is slowed by what the engine optimised for another: a round for each message.
import { type Engine, ownEngines } from "./own-engines.ts";

const keyCount = 10_000;
const roundMilliseconds = 250;

export interface Round {
  /** Evaluations a second. */
  readonly rate: number;
  /** Keys of one pass that have the flag, of `keys` in all. */
  readonly on: number;
  readonly keys: number;
}

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");

/** Like UUIDs, and the same for every engine; flat texts, as they come from a request. */
const keys = Array.from({ length: keyCount }, (_, index) => {
  const [first, second] = [
    hex(Math.imul(index + 1, 0x9e3779b1)),
    hex(Math.imul(index + 1, 0x85ebca77)),
  ];
  const key = `${first}-${second.slice(4)}-4${first.slice(5)}-a${second.slice(5)}-${first.slice(4)}${second}`;
  return Buffer.from(key).toString("latin1");
});

const [name = ""] = process.argv.slice(2);
// Their packages are only there once the bench has installed them, so no checker can follow this import.
const peers = new URL("../peers/engines.js", import.meta.url).href;
const engine = ownEngines[name] ?? ((await import(peers)) as Record<string, Engine>)[name];
if (!engine) throw new Error(`There is no engine ${name}.`);
const pass = await engine(keys);

const measure = async (): Promise<Round> => {
  const started = performance.now();
  let passes = 0;
  let on = 0;
  let elapsed = 0;
  do {
    on = await pass();
    passes += 1;
    elapsed = performance.now() - started;
  } while (elapsed < roundMilliseconds);
  return { rate: (passes * keyCount * 1_000) / elapsed, on, keys: keyCount };
};

process.on("message", () => void measure().then((round) => process.send?.(round)));
process.on("disconnect", () => process.exit());
process.send?.("ready");
