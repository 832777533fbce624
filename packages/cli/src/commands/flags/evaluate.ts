// halyard evaluate: shows the value that the server returns for a context.

import { bucketOf } from "@halyard/core/bucket";
import { memberOf } from "@halyard/core/difference";
import { isPercentage } from "@halyard/core/percentage";
import { usesTargeting } from "@halyard/core/targeting/targeting";
import type { ManagementErrorCode } from "@halyard/sdk/management";
import { Command } from "commander";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  connect,
  failureOf,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print, printJson } from "../../terminal/output.ts";

interface EvaluateOptions extends ConnectionOptions {
  readonly targetingKey?: string;
  readonly context?: string;
  readonly json?: boolean;
}

interface Evaluated {
  readonly key: string;
  readonly value: unknown;
  readonly variant: string;
  readonly reason: string;
  /** The rule that decided. Keys of role client don't receive it. */
  readonly rule?: string;
}

export const evaluateCommand = (): Command => {
  const command = serverCommand(new Command("evaluate"), "any")
    .description("evaluate a flag on a server, and show why it has that value")
    .argument("<flag>", "the flag's key")
    .option("--targeting-key <text>", "the targetingKey, as your application sends it")
    .option("--context <json>", "other attributes of the evaluation context, as a JSON object")
    .action(evaluate);
  return withExamples(
    command,
    "halyard evaluate new-checkout --targeting-key user-42",
    `halyard evaluate new-checkout --context '{"targetingKey":"user-42","country":"CA"}' --json`,
  );
};

const evaluate = async (key: string, options: EvaluateOptions): Promise<void> => {
  const { targetingKey } = options;
  const context: Record<string, unknown> = {
    ...readContext(options.context),
    ...(targetingKey !== undefined && { targetingKey }),
  };
  const connection = connect(options);
  const answer = await ask(connection, key, context);
  const whom = "targetingKey" in context ? String(context.targetingKey) : undefined;
  const percentage = await percentageOf(connection, key);
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
  const forWhom = whom === undefined ? "" : ` for ${whom}`;
  const value = typeof answer.value === "boolean" ? "" : `: ${JSON.stringify(answer.value)}`;
  print(inOneLine(`${key} is ${answer.variant}${forWhom}${value} (${meaning(answer)}).`));
  if (percentage !== undefined && from !== undefined) {
    print(`The rollout is at ${percentage}%; this targeting key is included from ${from}% on.`);
  }
};

const readContext = (text: string | undefined): Record<string, unknown> => {
  if (text === undefined) return {};
  const value = objectOf(text);
  if (value && !Array.isArray(value)) return value;
  throw new CommandFailed(
    `--context must be a JSON object, such as '{"country":"CA"}'.`,
    exitCodes.usage,
  );
};

const meaning = ({ reason, rule, value }: Evaluated): string => {
  const shares = typeof value === "boolean" ? "the rollout's percentage" : "the flag's shares";
  const meanings: Readonly<Record<string, string>> = {
    STATIC: "the same for everyone",
    DISABLED: "the flag is disabled",
    SPLIT: rule === undefined ? `by ${shares}` : `by the shares of the rule ${rule}`,
    TARGETING_MATCH: rule === undefined ? "by a rule" : `by the rule ${rule}`,
    DEFAULT: "by the default rule",
    PREREQUISITE_FAILED: "a prerequisite is not met",
  };
  return meanings[reason] ?? reason;
};

/** Over OFREP, a flag that is off has the reason `STATIC`, and `DISABLED` in its metadata. */
const evaluatedIn = ({ metadata, ...body }: Record<string, unknown>): Evaluated => {
  const { reason = body.reason, rule } = (metadata ?? {}) as Partial<Evaluated>;
  return { ...body, reason, ...(rule !== undefined && { rule }) } as Evaluated;
};

const timeout = 10_000;

const codes: Readonly<Record<number, ManagementErrorCode>> = {
  400: "VALIDATION_FAILED",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  429: "RATE_LIMITED",
  503: "UNAVAILABLE",
};

const ask = async (
  connection: Connection,
  key: string,
  context: Record<string, unknown>,
): Promise<Evaluated> => {
  const base = connection.url.replace(/\/+$/, "");
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${base}/ofrep/v1/evaluate/flags/${encodeURIComponent(key)}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${connection.key}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ context }),
      signal: AbortSignal.timeout(timeout),
    });
    text = await answer.text();
  } catch (cause) {
    const message = "the server did not respond";
    throw failureOf(connection, { code: "UNREACHABLE", message, cause });
  }
  const body = objectOf(text);
  if (answer.ok && body) return evaluatedIn(body);
  const code = body && codes[answer.status];
  const { errorCode, errorDetails, message } = body ?? {};
  if (errorCode === "TARGETING_KEY_MISSING") {
    const isOfAttribute = typeof errorDetails === "string" && errorDetails.includes("attribute");
    throw new CommandFailed(
      isOfAttribute
        ? errorDetails
        : `"${key}" is split by user: specify the user with --targeting-key.`,
      exitCodes.failed,
      { code: errorCode },
    );
  }
  if (errorCode === "FLAG_NOT_FOUND") {
    const missing = `The flag "${key}" does not exist`;
    throw failureOf(connection, { code: "NOT_FOUND", message: missing });
  }
  const said = [errorDetails, message].find((text) => typeof text === "string");
  throw failureOf(connection, {
    code: code ?? "UNEXPECTED_ANSWER",
    message: said ?? `the response ${answer.status} is not from Halyard`,
  });
};

const objectOf = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

/** Undefined for a flag without a percentage or with targeting (see `halyard explain`), and if the key can't read flags. */
const percentageOf = async (connection: Connection, key: string): Promise<number | undefined> => {
  const found = await connection.management.flags.get(key);
  if (!found.ok && found.error.code === "FORBIDDEN") return undefined;
  const flag = answered(connection, found);
  const percentage = memberOf(flag, "percentage");
  return isPercentage(percentage) && !usesTargeting(flag) ? percentage : undefined;
};
