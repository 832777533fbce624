// halyard evaluate: what a flag is for someone, as the server answers it.
import { bucketOf } from "@halyard/sdk";
import { Command } from "commander";
import { type ApiOptions, type Call, createCall, keyOption, Refused, urlOption } from "../api.ts";
import { CommandFailed, print, printJson } from "../output.ts";

interface EvaluateOptions extends ApiOptions {
  readonly targetingKey?: string;
  readonly context?: string;
  readonly json?: boolean;
}

interface Evaluated {
  readonly key: string;
  readonly value: boolean;
  readonly variant: string;
  readonly reason: string;
}

export const evaluateCommand = (): Command =>
  new Command("evaluate")
    .description("ask a running server what a flag is for someone")
    .argument("<key>", "the flag's key")
    .option("--targeting-key <text>", "for whom: what your application gives as targetingKey")
    .option("--context <json>", "the rest of the evaluation context, as a JSON object")
    .addOption(urlOption())
    .addOption(keyOption("any"))
    .option("--json", "print JSON, for scripts")
    .action(evaluate);

const evaluate = async (key: string, options: EvaluateOptions): Promise<void> => {
  const call = createCall(options);
  const { targetingKey } = options;
  const context = {
    ...readContext(options.context),
    ...(targetingKey !== undefined && { targetingKey }),
  };
  const path = `/ofrep/v1/evaluate/flags/${encodeURIComponent(key)}`;
  const answer = await call<Evaluated>("POST", path, { context });
  const whom = "targetingKey" in context ? String(context.targetingKey) : undefined;
  const percentage = await percentageOf(call, key);
  const from =
    percentage === undefined || whom === undefined ? undefined : bucketOf(key, whom) / 1_000;
  if (options.json) {
    printJson({
      ...answer,
      ...(percentage !== undefined && { percentage }),
      ...(from !== undefined && { inFrom: from }),
    });
    return;
  }
  print(
    `${key} is ${answer.variant}${whom === undefined ? "" : ` for ${whom}`} (${meaning(answer)}).`,
  );
  if (percentage !== undefined && from !== undefined) {
    print(`The rollout is at ${percentage} %; this targeting key is in from ${from} %.`);
  }
};

const readContext = (text: string | undefined): Record<string, unknown> => {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Said below.
  }
  throw new CommandFailed(`--context must be a JSON object, such as '{"country":"CA"}'.`);
};

const meaning = ({ reason }: Evaluated): string =>
  ({
    STATIC: "the same for everyone",
    DISABLED: "the flag is disabled",
    SPLIT: "by the rollout's percentage",
  })[reason] ?? reason;

/** Of a rollout flag; undefined for others, and when the key may not read flags. */
const percentageOf = async (call: Call, key: string): Promise<number | undefined> => {
  try {
    const flag = await call<{ percentage?: number }>("GET", `/flags/${encodeURIComponent(key)}`);
    return flag.percentage;
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return undefined;
    throw error;
  }
};
