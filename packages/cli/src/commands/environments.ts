// halyard environments: each has its own flags, webhooks and keys.
import { environmentNameRule } from "@halyard/server/domain/api-key";
import { Command } from "commander";
import { withExamples } from "../examples.ts";
import { type OperatorOptions, operatorCommand, withOperator } from "../operator.ts";
import { print, printJson, printTable, unwrap } from "../output.ts";

export const environmentCommands = (): Command => {
  const group = new Command("environments").description("list, create and delete environments");

  const list = operatorCommand(group.command("list"))
    .description("list the environments with the number of their flags")
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
    .description("create an environment; `halyard keys create` then makes keys for it")
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
    .option("--force", "even when it still holds flags")
    .action((name: string, options: OperatorOptions & { force?: boolean }) =>
      withOperator(options, async ({ environments }) => {
        const result = await environments.remove(name, options.force === true);
        if (!result.ok && result.failure.code === "CONFLICT") {
          const { failure } = result;
          unwrap({
            ok: false,
            failure: { ...failure, message: `${failure.message} Add --force to do so.` },
          });
        }
        const removed = unwrap(result);
        if (options.json)
          return printJson({ name: removed.name, flags: removed.flagCount, deleted: true });
        print(`Deleted the environment "${removed.name}" and everything in it.`);
      }),
    );
  withExamples(remove, "halyard environments delete staging --force");

  return group;
};
