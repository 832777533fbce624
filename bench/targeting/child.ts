// A process that is asked again and again, so that what runs in one is not slowed by what the engine optimised for another.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

export class Child<Ask extends object> {
  readonly what: string;
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  constructor(what: string, script: string, args: readonly string[]) {
    this.what = what;
    this.#process = fork(resolve(import.meta.dirname, script), args, {
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#process.once("exit", () => this.#ended.abort(new Error(`${what} ended early.`)));
  }

  /** What it says next; the first time, that it is ready. */
  async reply(): Promise<unknown> {
    const [message] = await once(this.#process, "message", { signal: this.#ended.signal });
    return message;
  }

  ask(ask: Ask): Promise<unknown> {
    this.#process.send(ask);
    return this.reply();
  }

  close(): void {
    if (this.#process.connected) this.#process.disconnect();
  }
}

/** The other side: replies to each message with what came of it. */
export const serve = <Ask>(reply: (ask: Ask) => unknown): void => {
  process.on("message", (ask: Ask) => {
    void Promise.resolve(reply(ask)).then((found) => process.send?.(found));
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
};

/** Of the whole process, in milliseconds: what the machine does for others meanwhile does not count. */
export const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** How often a second of processor time. A pass does it `count` times, and gives how often the flag was on. */
export const rateOf = async (
  pass: () => number | Promise<number>,
  count: number,
  milliseconds: number,
): Promise<number> => {
  const started = processorTime();
  let passes = 0;
  let on = 0;
  let elapsed = 0;
  do {
    const done = pass();
    on += typeof done === "number" ? done : await done;
    passes += 1;
    elapsed = processorTime() - started;
  } while (elapsed < milliseconds);
  // Whoever reads the result leaves the compiler no work to drop.
  if (on > passes * count) throw new Error("The flag was on more often than it was asked about.");
  return (passes * count * 1_000) / elapsed;
};
