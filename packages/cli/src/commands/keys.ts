// halyard keys: issue and revoke API keys at the machine itself, without one.
import { type Role, roles } from "@halyard/server/domain/principal";
import { Command, Option } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../operator.ts";
import { CommandFailed, print, printJson, printTable, unwrap } from "../output.ts";

interface Named extends OperatorOptions {
  readonly environment: string;
}

const maxNameLength = 100;

const environmentOption = () =>
  new Option("-e, --environment <name>", "the environment of the key").makeOptionMandatory();

export const keyCommands = (): Command => {
  const group = new Command("keys").description("list, create and revoke API keys");

  operatorCommand(group.command("list"))
    .description("list the valid keys of an environment")
    .addOption(environmentOption())
    .action((options: Named) =>
      withOperator(options, async ({ environments, keys }) => {
        const { id } = unwrap(await environments.find(options.environment));
        const rows = (await keys.list(id)).map((key) => ({
          ...key,
          createdAt: key.createdAt.toISOString(),
          lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
        }));
        if (options.json) return printJson(rows);
        printTable(
          ["id", "role", "created", "last used", "name"],
          rows.map((row) => [row.id, row.role, row.createdAt, row.lastUsedAt ?? "never", row.name]),
        );
      }),
    );

  operatorCommand(group.command("create"))
    .description("create a key and print it once")
    .addOption(environmentOption())
    .addOption(
      new Option("-r, --role <role>", "what the key may do")
        .choices([...roles])
        .makeOptionMandatory(),
    )
    .requiredOption("-n, --name <text>", "who or what uses it; history and events name it")
    .action((options: Named & { role: Role; name: string }) =>
      withOperator(options, async ({ environments, keys }) => {
        const { role, name } = options;
        if (name.trim() === "" || name.length > maxNameLength) {
          throw new CommandFailed(`--name must be a text of 1 to ${maxNameLength} characters.`);
        }
        const { id } = unwrap(await environments.find(options.environment));
        const { apiKey, text } = await keys.createAsOperator(id, { role, name });
        if (options.json) {
          return printJson({ ...apiKey, createdAt: apiKey.createdAt.toISOString(), key: text });
        }
        print(text);
        console.error(
          `Created the ${role} key "${name}" (${apiKey.id}) of ${options.environment}. It is not shown again.`,
        );
      }),
    );

  operatorCommand(group.command("revoke"))
    .description("revoke a key; it takes effect at once")
    .argument("<id>", "the id of the key, as `keys list` shows it")
    .addOption(environmentOption())
    .action((id: string, options: Named) =>
      withOperator(options, async ({ environments, keys }) => {
        const environment = unwrap(await environments.find(options.environment));
        unwrap(await keys.revokeAsOperator(environment.id, id));
        if (options.json) return printJson({ id, revoked: true });
        print(`Revoked the key ${id} of ${environment.name}.`);
      }),
    );

  return group;
};
