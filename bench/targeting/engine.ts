// One engine in a process of its own, on the flag with rules: what it gives for a group of people, or how fast.
import { getHeapStatistics } from "node:v8";
import { evaluate } from "../../packages/core/src/evaluate.ts";
import { type Flag, prepare } from "../../packages/core/src/flags/registry.ts";
import { connectedClient } from "../support/own-engines.ts";
import { rateOf, serve } from "./child.ts";
import { type Group, type Person, type PlainRule, people, ruleSet } from "./rule-set.ts";

interface RuleEngine<Context = Person> {
  /** In the engine's own form. */
  prepare(people: readonly Person[]): readonly Context[];
  isOn(context: Context): boolean | Promise<boolean>;
  /** It only answers with promises. */
  readonly isPromised?: true;
}
type Start = (rules: readonly PlainRule[]) => RuleEngine | Promise<RuleEngine>;

export interface Ask {
  readonly group: Group;
  /** The answers, evaluations a second, or bytes that one allocates. */
  readonly wanted: "answers" | "rate" | "bytes";
  readonly milliseconds: number;
}

const flagOf = (rules: readonly PlainRule[]): Flag => ({
  key: "new-checkout",
  type: "boolean",
  enabled: true,
  description: null,
  otherwise: "off",
  rules: rules.map((conditions, index) => ({
    id: `rule-${index + 1}`,
    when: { all: conditions },
    serve: "on",
  })),
});

const same = (persons: readonly Person[]): readonly Person[] => persons;

const own: Readonly<Record<string, Start>> = {
  core(rules) {
    const ready = prepare(flagOf(rules), 2);
    const isOn = (person: Person): boolean => {
      const evaluation = evaluate(ready, person);
      return "value" in evaluation && evaluation.value === true;
    };
    return { prepare: same, isOn };
  },
  async client(rules) {
    const flag = flagOf(rules);
    const client = await connectedClient(flag, 2);
    return { prepare: same, isOn: (person) => client.isEnabled(flag.key, person) };
  },
};

const [name = ""] = process.argv.slice(2);
// Their packages are only there once the bench has installed them, so no checker can follow this import.
const peers = new URL("../peers/rule-engines.js", import.meta.url).href;
const start = own[name] ?? ((await import(peers)) as Record<string, Start>)[name];
if (!start) throw new Error(`There is no engine ${name}.`);
const engine = await start(ruleSet);
const contexts = Object.fromEntries(
  Object.entries(people).map(([group, persons]) => [group, engine.prepare(persons)]),
);

const answers = async (group: Group): Promise<string> => {
  const texts: string[] = [];
  for (const context of contexts[group] ?? []) texts.push((await engine.isOn(context)) ? "1" : "0");
  return texts.join("");
};

const passPromised = async (list: readonly Person[]): Promise<number> => {
  let on = 0;
  // A hundred at once take less time than one after the other.
  for (let from = 0; from < list.length; from += 100) {
    const some = list.slice(from, from + 100).map((each) => Promise.resolve(engine.isOn(each)));
    for (const isOn of await Promise.all(some)) if (isOn) on += 1;
  }
  return on;
};

const pass = (list: readonly Person[]): number => {
  let on = 0;
  for (const context of list) if (engine.isOn(context) === true) on += 1;
  return on;
};

const bytes = async (list: readonly Person[]): Promise<number> => {
  const evaluations = 1e6;
  const before = getHeapStatistics().total_allocated_bytes;
  for (let done = 0; done < evaluations; done += list.length) {
    if (engine.isPromised) await passPromised(list);
    else pass(list);
  }
  return (getHeapStatistics().total_allocated_bytes - before) / evaluations;
};

serve(({ group, wanted, milliseconds }: Ask) => {
  const list = contexts[group] ?? [];
  if (wanted === "answers") return answers(group);
  if (wanted === "bytes") return bytes(list);
  return rateOf(
    () => (engine.isPromised ? passPromised(list) : pass(list)),
    list.length,
    milliseconds,
  );
});
