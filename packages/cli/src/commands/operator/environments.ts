// halyard environments: each has its own flags, webhooks and keys.
import { environmentNameRule } from "@halyard/server/domain/api-key";
import { Command } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { confirm } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, print, printJson, printTable, unwrap } from "../../terminal/output.ts";

interface DeleteOptions extends OperatorOptions {
  readonly force?: boolean;
  readonly yes?: boolean;
}

export const environmentCommands = (): Command => {
  const group = new Command("environments").description("list, create and delete environments");

  const list = operatorCommand(group.command("list"))
    .description("list the environments and how many flags each has")
    .action((options: OperatorOptions) =>
      withOperator(options, async ({ environments }) => {
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
  );

  const create = operatorCommand(group.command("create"))
    .description("create an environment; `halyard keys create` then creates keys for it")
    .argument("<name>", environmentNameRule)
    .action((name: string, options: OperatorOptions) =>
      withOperator(options, async ({ environments }) => {
        const made = unwrap(await environments.create(name));
        const createdAt = made.createdAt.toISOString();
        if (options.json) return printJson({ name: made.name, flags: 0, createdAt });
        print(`Created the environment "${made.name}".`);
        print(`Next: halyard keys create --environment ${made.name} --role admin --name admin`);
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

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

const removeEnvironment = (name: string, options: DeleteOptions): Promise<void> =>
  withOperator(options, async ({ environments }) => {
    const { flags, webhooks, keys } = unwrap(await environments.contents(name));
    const withFlags = options.force === true;
    // Checked before the question, so that nobody confirms in vain.
    if (flags > 0 && !withFlags) {
      throw new CommandFailed(
        `The environment "${name}" has ${counted(flags, "flag")}. Deleting it also deletes its flags, webhooks, keys and history: add --force to do so.`,
        exitCodes.conflict,
      );
    }
    await confirm(
      `Delete the environment "${name}" with ${counted(flags, "flag")}, ${counted(webhooks, "webhook")}, ${counted(keys, "key")} and all history? Only a backup can bring them back.`,
      options.yes,
    );
    const removed = unwrap(await environments.remove(name, withFlags));
    if (options.json) {
      return printJson({ name: removed.name, flags: removed.flagCount, deleted: true });
    }
    print(`Deleted the environment "${removed.name}" and everything in it.`);
  });
