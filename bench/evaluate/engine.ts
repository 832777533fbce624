// One engine in a process of its own, so that none is slowed by what V8 optimized for another: its values, or how fast it is.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { evaluate } from "../../packages/core/src/evaluate.ts";
import { type Flag, prepare } from "../../packages/core/src/flags/registry.ts";
import { createClient } from "../../packages/sdk/src/client/client.ts";
import type { Client } from "../../packages/sdk/src/client/client-options.ts";
import { type Group, type Person, type PlainRule, people, ruleSet } from "./people.ts";

/** One flag in an engine. */
interface Engine<Context = Person> {
  /** In the engine's own form. */
  prepare(people: readonly Person[]): readonly Context[];
  isOn(context: Context): boolean | Promise<boolean>;
  /** It only answers with promises. */
  readonly isPromised?: true;
}
/** The flag is on for those whom a rule matches, or without rules for half of the people. */
type Start = (rules: readonly PlainRule[] | undefined) => Promise<Engine>;

export type Kind = "rollout" | "rules";

export interface Ask {
  readonly group: Group;
  readonly wanted: "values" | "rate";
  /** Of processor time. */
  readonly milliseconds: number;
}

const flagOf = (rules: readonly PlainRule[] | undefined): Flag =>
  rules
    ? {
        ...{ key: "new-checkout", type: "boolean", enabled: true, description: null },
        otherwise: "off",
        rules: rules.map((conditions, index) => ({
          id: `rule-${index + 1}`,
          when: { all: conditions },
          serve: "on",
        })),
      }
    : { key: "new-checkout", type: "rollout", enabled: true, percentage: 50, description: null };
const levelOf = (rules: readonly PlainRule[] | undefined) => (rules ? 2 : undefined);

/** Its flag came over a stream, and its usage is counted and reported. */
const connectedClient = async (flag: Flag, level: number | undefined): Promise<Client> => {
  const at = new Date().toISOString();
  const flags = [{ version: 1, flag, level }];
  const environment = JSON.stringify({ environment: "bench", revision: 1, at, flags });
  const server = createServer((request, response) => {
    if (request.url !== "/api/v1/stream") {
      request.resume();
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.write(`retry: 2000\n\nid: 1-1\nevent: snapshot\ndata: ${environment}\n\n`);
    setInterval(() => response.write(":\n\n"), 15_000).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: "bench-key-0123456789" });
  if (!(await client.ready({ timeout: 10_000 })).ok) throw new Error("The client is not ready.");
  return client;
};

const same = (persons: readonly Person[]): readonly Person[] => persons;

const own: Readonly<Record<string, Start>> = {
  async core(rules) {
    const ready = prepare(flagOf(rules), levelOf(rules));
    const isOn = (person: Person): boolean => {
      const evaluation = evaluate(ready, person);
      return "value" in evaluation && evaluation.value === true;
    };
    return { prepare: same, isOn };
  },
  async client(rules) {
    const flag = flagOf(rules);
    const client = await connectedClient(flag, levelOf(rules));
    return { prepare: same, isOn: (person) => client.isEnabled(flag.key, person) };
  },
};

const [name = "", kind = ""] = process.argv.slice(2);
// Their packages are only there once the bench has installed them, so no checker can follow this import.
const peers = new URL("../peers/engines.js", import.meta.url).href;
const start = own[name] ?? ((await import(peers)) as Record<string, Start>)[name];
if (!start) throw new Error(`There is no engine ${name}.`);
const engine = await start(kind === "rules" ? ruleSet : undefined);
const contexts = {
  any: engine.prepare(people.any),
  first: engine.prepare(people.first),
  last: engine.prepare(people.last),
  none: engine.prepare(people.none),
};

const values = async (group: Group): Promise<string> => {
  const texts: string[] = [];
  for (const context of contexts[group]) texts.push((await engine.isOn(context)) ? "1" : "0");
  return texts.join("");
};

const passPromised = async (list: readonly Person[]): Promise<number> => {
  let on = 0;
  // A hundred at once take less time than one after the other.
  for (let from = 0; from < list.length; from += 100) {
    const some = list.slice(from, from + 100).map(async (each) => engine.isOn(each));
    for (const isOn of await Promise.all(some)) if (isOn) on += 1;
  }
  return on;
};

const pass = (list: readonly Person[]): number => {
  let on = 0;
  for (const context of list) if (engine.isOn(context) === true) on += 1;
  return on;
};

/** Of the whole process, in milliseconds, so that other work of the machine does not count. */
const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Evaluations per second of processor time. */
const rate = async (group: Group, milliseconds: number): Promise<number> => {
  const list = contexts[group];
  const started = processorTime();
  let evaluations = 0;
  let on = 0;
  let elapsed = 0;
  do {
    on += engine.isPromised ? await passPromised(list) : pass(list);
    evaluations += list.length;
    elapsed = processorTime() - started;
  } while (elapsed < milliseconds);
  // The result is used, so the compiler cannot drop the work.
  if (on > evaluations) throw new Error("The flag was on more often than it was evaluated.");
  return (evaluations * 1_000) / elapsed;
};

process.on("message", ({ group, wanted, milliseconds }: Ask) => {
  const found = wanted === "values" ? values(group) : rate(group, milliseconds);
  void found.then((value) => process.send?.(value));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
