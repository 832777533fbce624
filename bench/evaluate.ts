// How many evaluations a second one process makes in memory, beside a bare hash loop and beside others on the same flag and keys?
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Round } from "./support/evaluation-engine.ts";
import { installPeers } from "./support/install-peers.ts";
import { figure, machine, median, say, table } from "./support/report.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const peers = {
  launchdarkly: "@launchdarkly/node-server-sdk",
  unleash: "unleash-client",
  growthbook: "@growthbook/growthbook",
  flagd: "@openfeature/flagd-core",
  flagsmith: "flagsmith-nodejs",
};
const dependencies = installPeers();

class Subject {
  readonly what: string;
  readonly rates: number[] = [];
  readonly #child: ChildProcess;
  readonly #ended = new AbortController();
  on = 0;

  constructor(what: string, name: string) {
    this.what = what;
    this.#child = fork(pathOf("support/evaluation-engine.ts"), [name], {
      execArgv: ["--disable-warning=ExperimentalWarning"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#child.once("exit", () => this.#ended.abort(new Error(`${what} ended early.`)));
  }

  async answer(): Promise<unknown> {
    const [message] = await once(this.#child, "message", { signal: this.#ended.signal });
    return message;
  }

  async measure(): Promise<number> {
    this.#child.send("round");
    const { rate, on, keys } = (await this.answer()) as Round;
    if (Math.abs(on / keys - 0.5) > 0.03) {
      throw new Error(`${this.what} gives the flag to ${on} of ${keys}: it is not at 50 %.`);
    }
    this.on = on;
    return rate;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const ratios = (one: Subject, other: Subject): number[] =>
  sorted(one.rates.map((rate, round) => rate / (other.rates[round] ?? 1)));
const millions = (rate: number): string => `${(rate / 1e6).toFixed(2)} million /s`;

const client = new Subject("Halyard: `isEnabled` of a connected client", "client");
const prepared = new Subject("Halyard: `evaluate` of the core", "prepared");
const bare = new Subject("bare hash-and-compare loop", "bare");
const others = Object.entries(peers).map(
  ([name, packageName]) => new Subject(`${packageName} ${dependencies[packageName]}`, name),
);
const subjects = [client, prepared, bare, ...others];

try {
  await Promise.all(subjects.map((subject) => subject.answer()));
  for (let round = 0; round <= rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const rate = await subject.measure();
      if (round > 0) subject.rates.push(rate);
    }
  }
  if (client.on !== bare.on || prepared.on !== bare.on) {
    throw new Error("Halyard does not choose the keys that the bare loop chooses.");
  }
  say(`${machine}, one process each, ${rounds} rounds`);
  const row = table("", "evaluations", "`isEnabled` beside it", "spread of the rounds");
  for (const subject of subjects) {
    const beside = ratios(client, subject);
    const ratio = subject === client ? "" : median(beside).toFixed(2);
    const spread =
      subject === client ? "" : `${beside[0]?.toFixed(2)} to ${beside.at(-1)?.toFixed(2)}`;
    row(subject.what, millions(median(subject.rates)), ratio, spread);
  }
  figure("isEnabled beside the bare hash loop", median(ratios(client, bare)));
  const fastest = others.reduce((one, other) =>
    median(ratios(client, other)) < median(ratios(client, one)) ? other : one,
  );
  figure("isEnabled beside the fastest other", median(ratios(client, fastest)));
  say(
    `\`isEnabled\` is ${median(ratios(client, fastest)).toFixed(1)} times as fast as the fastest other, ${fastest.what}.`,
  );
} finally {
  for (const subject of subjects) subject.close();
}
