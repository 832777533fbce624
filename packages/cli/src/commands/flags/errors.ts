// halyard flags errors: shows which evaluations fail, and in which clients.
import type { EvaluationError } from "@halyard/sdk/management";
import type { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { withExamples } from "../../terminal/examples.ts";
import { actorInLine, agoOf } from "../../terminal/flag-text.ts";
import { wholeNumber } from "../../terminal/option-values.ts";
import { inOneLine, printAside, printJson, printTable } from "../../terminal/output.ts";

interface ErrorsOptions extends ConnectionOptions {
  readonly days: number;
  readonly json?: boolean;
}

export const addErrorsCommand = (group: Command): void => {
  const errors = serverCommand(group.command("errors"), "a server")
    .description("list failed evaluations: keys without a flag, and flags of a different type")
    .option("--days <count>", "only errors of the last days", wholeNumber(1, 30), 7)
    .action(listErrors);
  withExamples(errors, "halyard flags errors", "halyard flags errors --days 1 --json");
};

const problems: Readonly<Record<EvaluationError["errorCode"], string>> = {
  FLAG_NOT_FOUND: "no such flag",
  TYPE_MISMATCH: "different type",
};

const problemOf = ({ errorCode, deletion }: EvaluationError): string =>
  deletion === null
    ? problems[errorCode]
    : `deleted ${agoOf(deletion.at)} by ${actorInLine(deletion.actor)}`;

const listErrors = async ({ days, ...options }: ErrorsOptions): Promise<void> => {
  const connection = connect(options);
  const found = answered(connection, await connection.management.usageErrors({ hours: days * 24 }));
  if (options.json) return printJson(found);
  printTable(
    ["key", "problem", "client", "evaluations", "last seen"],
    found.flatMap((error) =>
      error.programs.map(({ name, count, lastEvaluatedAt }) => [
        error.key,
        problemOf(error),
        inOneLine(name),
        String(count),
        agoOf(lastEvaluatedAt),
      ]),
    ),
  );
  if (found.length === 0) {
    printAside(`No evaluation failed in the last ${days === 1 ? "day" : `${days} days`}.`);
  }
};
