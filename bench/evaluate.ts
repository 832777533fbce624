// Evaluation in memory beside SDKs of others: the same flags and people, one process each, in turns.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Ask, Kind } from "./evaluate/engine.ts";
import { expected, type Group, people } from "./evaluate/people.ts";
import { installPeers } from "./support/install-peers.ts";
import { machine, median, ratioCells, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 31);
/** Of processor time, for each engine of each round. */
const milliseconds = 60;

const cases = {
  rollout: [["any", "a rollout of 50%"]],
  rules: [
    ["first", "five rules, the first matches"],
    ["last", "five rules, the last matches"],
    ["none", "five rules, none matches"],
  ],
} as const satisfies Record<Kind, readonly (readonly [Group, string])[]>;
const groups: readonly Group[] = ["any", "first", "last", "none"];
const peers = {
  launchdarkly: "@launchdarkly/node-server-sdk",
  unleash: "unleash-client",
  growthbook: "@growthbook/growthbook",
  flagd: "@openfeature/flagd-core",
  flagsmith: "flagsmith-nodejs",
};
/** It has no prefixes and suffixes of strings. */
const withoutRules = "flagsmith";

class Engine {
  readonly what: string;
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();
  rates: number[] = [];

  constructor(name: string, what: string, kind: Kind) {
    this.what = what;
    this.#process = fork(join(import.meta.dirname, "evaluate/engine.ts"), [name, kind], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#process.once("exit", () => this.#ended.abort(new Error(`${what} ended early.`)));
  }

  /** What it says next; the first time, that it is ready. */
  async reply(): Promise<unknown> {
    const [message] = await once(this.#process, "message", { signal: this.#ended.signal });
    return message;
  }

  ask(group: Group, wanted: Ask["wanted"]): Promise<unknown> {
    this.#process.send({ group, wanted, milliseconds } satisfies Ask);
    return this.reply();
  }

  close(): void {
    if (this.#process.connected) this.#process.disconnect();
  }
}

const check = async (kind: Kind, engine: Engine): Promise<void> => {
  if (kind === "rollout") {
    const values = (await engine.ask("any", "values")) as string;
    const share = values.replaceAll("0", "").length / values.length;
    if (Math.abs(share - 0.5) < 0.03) return;
    throw new Error(`${engine.what} turns the flag on for ${share} of all, not for half.`);
  }
  for (const group of groups) {
    if ((await engine.ask(group, "values")) !== expected(group)) {
      throw new Error(`${engine.what} gives other values than the rules say, for "${group}".`);
    }
  }
};

const versions = installPeers();
say(
  `${machine}, one process each, ${rounds} rounds of ${milliseconds} ms of processor time. For the rules all give the same values, of ${people.any.length} people.`,
);
const row = table("", "", "evaluations", "`isEnabled` beside it", "spread of the rounds");

const compare = async (kind: Kind): Promise<void> => {
  const client = new Engine("client", "Halyard: `isEnabled` of a connected client", kind);
  const core = new Engine("core", "Halyard: `evaluate` of the core", kind);
  const others = Object.entries(peers)
    .filter(([name]) => kind === "rollout" || name !== withoutRules)
    .map(([name, peer]) => new Engine(name, `${peer} ${versions[peer]}`, kind));
  const engines = [client, core, ...others];
  try {
    await Promise.all(engines.map((engine) => engine.reply()));
    for (const engine of engines) await check(kind, engine);
    for (const [group, what] of cases[kind]) {
      for (const engine of engines) engine.rates = [];
      for (let round = 0; round <= rounds; round += 1) {
        for (const engine of round % 2 === 0 ? engines : engines.toReversed()) {
          const rate = (await engine.ask(group, "rate")) as number;
          if (round > 0) engine.rates.push(rate);
        }
      }
      for (const engine of engines) {
        const isFirst = engine === client;
        row(
          isFirst ? what : "",
          engine.what,
          `${(median(engine.rates) / 1e6).toFixed(2)} million /s`,
          ...(isFirst ? ["", ""] : ratioCells(client.rates, engine.rates)),
        );
      }
    }
  } finally {
    for (const engine of engines) engine.close();
  }
};

await compare("rollout");
await compare("rules");
