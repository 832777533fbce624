// The same rules in memory beside other SDKs: first that all give the same answers, then how fast.
import { installPeers } from "../support/install-peers.ts";
import { figure, machine, median, nth, say, table } from "../support/report.ts";
import { Child } from "./child.ts";
import type { Ask } from "./engine.ts";
import { expected, type Group, people } from "./rule-set.ts";

const peers = {
  unleash: "unleash-client",
  flagd: "@openfeature/flagd-core",
  growthbook: "@growthbook/growthbook",
  launchdarkly: "@launchdarkly/node-server-sdk",
};

class Engine extends Child<Ask> {
  rates: number[] = [];

  constructor(what: string, name: string) {
    super(what, "engine.ts", [name]);
  }
}

const check = async (engine: Engine): Promise<void> => {
  for (const group of Object.keys(people) as Group[]) {
    if ((await engine.ask({ group, wanted: "answers", milliseconds: 0 })) !== expected(group)) {
      throw new Error(`${engine.what} gives other answers than the rules say, for "${group}".`);
    }
  }
};

const ratios = (one: Engine, other: Engine): number[] =>
  one.rates.map((rate, round) => rate / (other.rates[round] ?? 1));
const millions = (rate: number): string => `${(rate / 1e6).toFixed(2)} million /s`;
const shown = (all: readonly number[]): [string, string] => [
  median(all).toFixed(2),
  `${nth(all, 0).toFixed(2)} to ${nth(all, 1).toFixed(2)}`,
];

const groups: readonly (readonly [group: Group, what: string])[] = [
  ["first", "the first rule matches"],
  ["last", "the last rule matches"],
  ["none", "no rule matches"],
];

export const compareRules = async (rounds: number, milliseconds: number): Promise<void> => {
  const versions = installPeers();
  const client = new Engine("Halyard: `isEnabled` of a connected client", "client");
  const core = new Engine("Halyard: `evaluate` of the core", "core");
  const others = Object.entries(peers).map(
    ([name, packageName]) => new Engine(`${packageName} ${versions[packageName]}`, name),
  );
  const engines = [client, core, ...others];
  try {
    await Promise.all(engines.map((engine) => engine.reply()));
    for (const engine of engines) await check(engine);
    say(
      `${machine}, one process each, ${rounds} rounds of ${milliseconds} ms of processor time. All give the same answers for ${people.any.length} people.`,
    );
    const row = table(
      "",
      "",
      "evaluations",
      "`isEnabled` beside it",
      "spread of the rounds",
      "bytes allocated",
    );
    for (const [group, what] of groups) {
      for (const engine of engines) engine.rates = [];
      for (let round = 0; round <= rounds; round += 1) {
        for (const engine of round % 2 === 0 ? engines : engines.toReversed()) {
          const rate = (await engine.ask({ group, wanted: "rate", milliseconds })) as number;
          if (round > 0) engine.rates.push(rate);
        }
      }
      for (const engine of engines) {
        const bytes = await engine.ask({ group, wanted: "bytes", milliseconds });
        const beside = engine === client ? ["", ""] : shown(ratios(client, engine));
        row(
          engine === client ? what : "",
          engine.what,
          millions(median(engine.rates)),
          ...beside,
          `${Math.round(bytes as number)}`,
        );
      }
      const fastest = others.reduce((one, other) =>
        median(ratios(client, other)) < median(ratios(client, one)) ? other : one,
      );
      figure(`rules beside the fastest other, ${what}`, median(ratios(client, fastest)));
    }
  } finally {
    for (const engine of engines) engine.close();
  }
};
