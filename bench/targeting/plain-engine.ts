// Plain flags in one process: the core in the folder of its first argument, which may be one from before targeting.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Evaluate from "../../packages/core/src/evaluate.ts";
import type * as Registry from "../../packages/core/src/flags/registry.ts";
import { rateOf, serve } from "./child.ts";

export interface PlainAsk {
  readonly type: "boolean" | "rollout";
  readonly milliseconds: number;
}

const [folder = ""] = process.argv.slice(2);
const load = (file: string): Promise<unknown> =>
  import(pathToFileURL(resolve(folder, "packages/core/src", file)).href);
const { evaluate } = (await load("evaluate.ts")) as typeof Evaluate;
const { prepare } = (await load("flags/registry.ts")) as typeof Registry;

const base = { key: "new-checkout", enabled: true, description: null };
const flags = {
  boolean: prepare({ ...base, type: "boolean" }),
  rollout: prepare({ ...base, type: "rollout", percentage: 50 }),
};
const contexts = Array.from({ length: 10_000 }, (_, index) => ({
  targetingKey: Buffer.from(`user-${index * 7_919}-${index}`).toString("latin1"),
}));

serve(({ type, milliseconds }: PlainAsk) => {
  const flag = flags[type];
  const pass = () => {
    let on = 0;
    for (const context of contexts) {
      const evaluation = evaluate(flag, context);
      if ("value" in evaluation && evaluation.value) on += 1;
    }
    return on;
  };
  return rateOf(pass, contexts.length, milliseconds);
});
