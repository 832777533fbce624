// halyard environments: each has its own flags, webhooks and keys.

import type { Operator } from "@halyard/server/compose/operator";
import { environmentNameRule } from "@halyard/server/domain/api-key";
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import {
  CommandFailed,
  print,
  printAside,
  printJson,
  printTable,
  unwrap,
} from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";

interface ListOptions extends OperatorOptions {
  readonly deleted?: boolean;
}

interface DeleteOptions extends OperatorOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

export const environmentCommands = (): Command => {
  const group = new Command("environments").description("list, create and delete environments");

  const list = operatorCommand(group.command("list"))
    .description("list the environments and how many flags each has")
    .option("--deleted", "those that were deleted, and when")
    .action((options: ListOptions) =>
      withOperator(options, async ({ environments }) => {
        if (options.deleted) return showDeleted(await environments.removed(), options);
        const rows = (await environments.list()).map(({ name, flagCount, createdAt }) => ({
          name,
          flags: flagCount,
          createdAt: createdAt.toISOString(),
        }));
        if (options.json) return printJson(rows);
        printTable(
          ["name", "flags", "created"],
          rows.map((row) => [row.name, String(row.flags), row.createdAt]),
        );
      }),
    );
  withExamples(
    list,
    "halyard environments list",
    "halyard environments list --data /var/lib/halyard",
    "halyard environments list --deleted",
  );

  const create = operatorCommand(group.command("create"))
    .description("create an environment; `halyard keys create` then creates keys for it")
    .argument("<name>", environmentNameRule)
    .action((name: string, options: OperatorOptions) =>
      withOperator(options, async ({ environments }, place) => {
        const made = unwrap(await environments.create(name));
        const createdAt = made.createdAt.toISOString();
        if (options.json) {
          return printJson({ name: made.name, flags: 0, createdAt, ...place.json });
        }
        print(`Created the environment "${made.name}"${place.text}.`);
        const data = options.data === undefined ? "" : ` --data ${options.data}`;
        print(
          `Next: halyard keys create --environment ${made.name} --role admin --name admin${data}`,
        );
      }),
    );
  withExamples(create, "halyard environments create staging");

  const remove = operatorCommand(group.command("delete"))
    .description("delete an environment with its flags, webhooks, keys and history")
    .argument("<name>", "the environment")
    .option("--force", "even if it still has flags")
    .option("-y, --yes", "do not ask for confirmation")
    .action(removeEnvironment);
  withExamples(
    remove,
    "halyard environments delete staging",
    "halyard environments delete staging --force --yes",
  );

  return group;
};

type Removed = Awaited<ReturnType<Operator["environments"]["removed"]>>;

const showDeleted = (removed: Removed, { json }: OperatorOptions): void => {
  const rows = removed.map(({ beganAt, endedAt, ...row }) => ({
    ...row,
    beganAt: beganAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }));
  if (json) {
    printJson(rows);
    return;
  }
  printTable(
    ["name", "flags", "webhooks", "keys", "deleted"],
    rows.map(({ name, flags, webhooks, keys, endedAt }) => [
      name,
      ...[flags, webhooks, keys].map(String),
      endedAt ?? "interrupted; delete it again to continue",
    ]),
  );
  if (rows.length === 0) printAside("No environment was deleted.");
};

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

const removeEnvironment = (name: string, options: DeleteOptions): Promise<void> =>
  withOperator(options, async ({ environments }, place) => {
    const { flags, webhooks, keys } = unwrap(await environments.contents(name));
    const withFlags = options.force === true;
    // Checked before the question, so that nobody confirms in vain.
    if (flags > 0 && !withFlags) {
      throw new CommandFailed(
        `The environment "${name}"${place.text} has ${counted(flags, "flag")}. Deleting it also deletes its flags, webhooks, keys and history: add --force to do so.`,
        exitCodes.conflict,
      );
    }
    await confirm(
      `Delete the environment "${name}"${place.text} with ${counted(flags, "flag")}, ${counted(webhooks, "webhook")}, ${counted(keys, "key")} and all history? Only a backup can bring them back.`,
      options.yes,
    );
    const progress = createProgress("rows deleted");
    const removed = await environments
      .remove(name, withFlags, (rows) => progress.at(rows))
      .finally(() => progress.end())
      .then(unwrap);
    if (options.json) {
      const { name: gone, flagCount } = removed;
      return printJson({ name: gone, flags: flagCount, deleted: true, ...place.json });
    }
    print(`Deleted the environment "${removed.name}"${place.text} and everything in it.`);
  });
