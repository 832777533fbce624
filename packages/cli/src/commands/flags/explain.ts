// halyard explain: shows every step of a decision, for current flags, past flags, or a proposed change.
import type { EvaluationContext } from "@halyard/core/context";
import type { FlagPatch } from "@halyard/sdk/management";
import { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { explanationLines } from "../../terminal/explanation-text.ts";
import {
  jsonObject,
  jsonOrText,
  moment,
  type NamedValue,
  namedValue,
  wholeNumber,
} from "../../terminal/option-values.ts";
import { CommandFailed, print, printJson } from "../../terminal/output.ts";

interface ExplainOptions extends ConnectionOptions {
  /** Attributes set with -c. */
  readonly attribute?: readonly NamedValue[];
  readonly context?: Readonly<Record<string, unknown>>;
  readonly at?: Date;
  readonly revision?: number;
  readonly patch?: Readonly<Record<string, unknown>>;
  readonly json?: boolean;
}

export const explainCommand = (): Command => {
  const command = serverCommand(new Command("explain"), "a server")
    .description("show every step by which a flag gets its value for a context")
    .argument("<flag>", "the flag's key")
    .argument("[targetingKey]", "the targetingKey, as your application sends it")
    .option(
      "-c, --attribute <name=value>",
      "an attribute of the context, as JSON or text; can be repeated",
      namedValue,
    )
    .option("--context <json>", "the evaluation context as a JSON object", jsonObject)
    .option(
      "--at <time>",
      "explain at a past time, or an age such as 2h; requires an admin key",
      moment,
    )
    .option(
      "--revision <number>",
      "explain at this revision of the environment; requires an admin key",
      wholeNumber(0),
    )
    .option("--patch <json>", "explain with this change applied; requires an admin key", jsonObject)
    .action(explain);
  return withExamples(
    command,
    "halyard explain new-checkout user-42 -c plan=pro -c age=31",
    "halyard explain new-checkout user-42 -c plan=pro --at 2h",
    `halyard explain new-checkout user-42 --patch '{"percentage":50}'`,
  );
};

const contextOf = (
  targetingKey: string | undefined,
  { attribute = [], context = {} }: ExplainOptions,
): EvaluationContext => {
  const nested = attribute.find(({ name }) => name.startsWith("/"));
  if (nested !== undefined) {
    throw new CommandFailed(
      `-c sets top-level attributes: pass ${nested.name} with --context.`,
      exitCodes.usage,
    );
  }
  return {
    ...context,
    ...Object.fromEntries(attribute.map(({ name, text }) => [name, jsonOrText(text)])),
    ...(targetingKey !== undefined && { targetingKey }),
  } as EvaluationContext;
};

const explain = async (
  key: string,
  targetingKey: string | undefined,
  options: ExplainOptions,
): Promise<void> => {
  const { at, revision, patch } = options;
  if ([at, revision, patch].filter((each) => each !== undefined).length > 1) {
    throw new CommandFailed("Pass only one of --at, --revision and --patch.", exitCodes.usage);
  }
  const context = contextOf(targetingKey, options);
  const connection = connect(options);
  const explained = answered(
    connection,
    await connection.management.flags.explain(key, {
      context,
      ...(at !== undefined && { at: at.toISOString() }),
      ...(revision !== undefined && { revision }),
      ...(patch !== undefined && { patch: patch as FlagPatch }),
    }),
  );
  if (options.json) return printJson(explained);
  const whom = typeof context.targetingKey === "string" ? context.targetingKey : undefined;
  print(explanationLines(explained, whom).join("\n"));
  if (at !== undefined || revision !== undefined) print(`At revision ${explained.revision}.`);
};
