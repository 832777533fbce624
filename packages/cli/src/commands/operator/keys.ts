// halyard keys: creates and revokes API keys, on a server with an admin key or in its database without a key.
import { isProductionName } from "@halyard/core/environment-name";
import type { ApiKey } from "@halyard/server/api-key";
import { checkNewKey } from "@halyard/server/keys";
import { type KeyRole, keyRoles } from "@halyard/server/roles";
import { Command, Option } from "commander";
import { dataOption, type OperatorOptions, withOperator } from "../../operator.ts";
import { givenAddress, requireNoAddress } from "../../server-connection/address.ts";
import {
  answered,
  type Connection,
  type ConnectionOptions,
  changeCommand,
  connect,
  hasKey,
  serverCommand,
} from "../../server-connection/connection.ts";
import { beginChange, placeOf } from "../../server-connection/place.ts";
import { ask, confirm, isAtTerminal } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { futureMoment, percentage } from "../../terminal/option-values.ts";
import {
  CommandFailed,
  print,
  printAside,
  printJson,
  printTable,
  unwrap,
} from "../../terminal/output.ts";

interface Options extends OperatorOptions, ConnectionOptions {
  readonly environment?: string;
  readonly yes?: boolean;
}

interface CreateOptions extends Options {
  readonly role?: KeyRole;
  readonly name?: string;
  readonly expires?: Date;
  readonly origin?: readonly string[];
  readonly maxFlips?: number;
}

/** In the server's format. */
interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly origins: readonly string[] | null;
  /** The owner of a personal key. */
  readonly user: { readonly name: string } | null;
  readonly writesDirectly?: boolean;
  readonly maxFlips?: number;
}

const maxNameLength = 100;

const keyCommand = (group: Command, name: string, command = serverCommand): Command =>
  command(group.command(name))
    .addOption(
      new Option(
        "-e, --environment <name>",
        "work on the database, for this environment, without a server or key",
      ),
    )
    .option(dataOption[0], `with --environment: ${dataOption[1]}`)
    .addHelpText(
      "after",
      `
Without --environment, it calls a server, for the environment of the API key. With --environment, it works on the
database directly, even if no admin key is left. If an address is set (HALYARD_URL or a profile), add --data.`,
    );

export const keyCommands = (): Command => {
  const group = new Command("keys").description(
    "list, create and revoke API keys, on a server or in its database",
  );

  const list = keyCommand(group, "list")
    .description("list the keys that are not revoked")
    .action(listKeys);
  withExamples(list, "halyard keys list", "halyard keys list --environment production");

  const create = keyCommand(group, "create", changeCommand)
    .description("create a key and print it once; prompts for missing values")
    .addOption(
      new Option("-r, --role <role>", "what the key can do").choices([...keyRoles, "owner"]),
    )
    .option("-n, --name <text>", "who or what uses the key; shown in history and events")
    .option(
      "--expires <when>",
      "when the key stops working: a time, or an age such as 12h or 90d",
      futureMoment,
    )
    .option(
      "--origin <origins...>",
      "for a client key: the web origins that can use it, such as https://app.example.com",
    )
    .option("--max-flips <percentage>", "impact limit of changes with this key", percentage)
    .action(createKey);
  withExamples(
    create,
    "halyard keys create",
    "halyard keys create --role server --name web",
    "halyard keys create --role server --name contractor --expires 30d",
    "halyard keys create --role client --name shop --origin https://shop.example.com",
    "halyard keys create --environment production --role admin --name admin",
    "halyard keys create --environment production --role owner --name automation",
  );

  const revoke = keyCommand(group, "revoke", changeCommand)
    .description("revoke a key, effective immediately")
    .argument("<id>", "the id of the key, which `keys list` shows")
    .action(revokeKey);
  withExamples(
    revoke,
    "halyard keys revoke 9f86d081884c7d65",
    "halyard keys revoke 9f86d081884c7d65 --environment production",
  );

  return group;
};

/** The environment to use in the database; undefined to call a server. */
const databaseOf = (options: Options): string | undefined => {
  const { environment, data, url, key, profile } = options;
  if (environment === undefined && data !== undefined) {
    throw new CommandFailed("--data requires --environment.", exitCodes.usage);
  }
  const server = Object.entries({ url, key, profile }).find(([, value]) => value !== undefined);
  if (environment !== undefined && server) {
    throw new CommandFailed(
      `--environment works on the database and --${server[0]} on a server: use only one of them.`,
      exitCodes.usage,
    );
  }
  if (environment !== undefined && data === undefined) requireNoAddress();
  return environment;
};

const connected = (options: Options): Connection =>
  connect(
    options,
    ` On the server's machine, --environment NAME${givenAddress(options) ? " --data FOLDER" : ""} works on the database without a key.`,
  );

const shownKeyOf = (key: ApiKey): ShownKey => ({
  id: key.id,
  name: key.name,
  role: key.role,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  origins: key.origins,
  user: key.user,
  ...(key.writesDirectly && { writesDirectly: true }),
  ...(key.maxFlips !== null && { maxFlips: key.maxFlips }),
});

const expiryText = ({ expiresAt }: ShownKey): string => {
  if (expiresAt === null) return "never";
  return Date.parse(expiresAt) > Date.now() ? expiresAt : `${expiresAt} (expired)`;
};

const listKeys = async (options: Options): Promise<void> => {
  const environment = databaseOf(options);
  const show = (rows: readonly ShownKey[]): void => {
    if (options.json) printJson(rows);
    else
      printTable(
        ["id", "role", "created", "last used", "expires", "max flips", "name", "origins"],
        rows.map((row) => [
          row.id,
          row.role,
          row.createdAt,
          row.lastUsedAt ?? "never",
          expiryText(row),
          row.maxFlips === undefined ? "none" : `${row.maxFlips}%`,
          row.user ? `${row.name} (of ${row.user.name})` : row.name,
          row.origins?.join(" ") ?? "",
        ]),
      );
  };
  if (environment === undefined) {
    const connection = connected(options);
    return show(answered(connection, await connection.management.keys.list()));
  }
  await withOperator(options, async ({ environments, keys }) => {
    const { id } = unwrap(await environments.find(environment));
    show((await keys.list({ id })).map(shownKeyOf));
  });
};

/** One of the choices, by default the first. */
const choose = async <T extends string>(what: string, choices: readonly T[]): Promise<T> => {
  const typed = (await ask(`${what} (${choices.join(", ")}) [${choices[0]}]: `)) || choices[0];
  const chosen = choices.find((choice) => choice === typed);
  if (chosen !== undefined) return chosen;
  throw new CommandFailed(`${what} must be one of ${choices.join(", ")}.`, exitCodes.usage);
};

type WholeOptions = CreateOptions & Required<Pick<CreateOptions, "role" | "name">>;

/** Prompts for missing values at a terminal. Works on the database if there is no key. */
const complete = async (options: CreateOptions): Promise<WholeOptions> => {
  const { role, name } = options;
  if (!isAtTerminal()) {
    if (role !== undefined && name !== undefined) return { ...options, role, name };
    throw new CommandFailed(
      "A key needs a role and a name, such as --role server --name web.",
      exitCodes.usage,
    );
  }
  let { environment } = options;
  if (environment === undefined && (hasKey(options) || givenAddress(options))) {
    printAside(`A new key ${(await placeOf(connected(options))).text}.`);
  } else if (environment === undefined) {
    await withOperator(options, async ({ environments }) => {
      const names = (await environments.list()).map((each) => each.name);
      environment = await choose("Environment", names);
    });
  }
  return {
    ...options,
    ...(environment !== undefined && { environment }),
    role: role ?? (await choose("Role", keyRoles.toReversed())),
    name: name ?? ((await ask("Name, as history shows it [admin]: ")) || "admin"),
  };
};

const createKey = async (given: CreateOptions): Promise<void> => {
  const options = await complete(given);
  const environment = databaseOf(options);
  const {
    role,
    name,
    expires: expiresAt = null,
    origin: origins = null,
    maxFlips = null,
  } = options;
  if (name.trim() === "" || name.length > maxNameLength) {
    throw new CommandFailed(
      `--name must be a string of 1 to ${maxNameLength} characters.`,
      exitCodes.usage,
    );
  }
  const show = (made: ShownKey & { readonly key: string }, where: string, json: object) => {
    if (options.json) return printJson({ ...made, ...json });
    print(made.key);
    const until = made.expiresAt === null ? "" : `, valid until ${made.expiresAt}`;
    printAside(
      `Created the ${role} key "${name}" (${made.id}) ${where}${until}. It won't be shown again.`,
    );
  };
  if (environment === undefined) {
    if (role === "owner") {
      throw new CommandFailed(
        "Owner keys can be created only on the server's machine, in the database: pass --environment NAME.",
        exitCodes.usage,
      );
    }
    const connection = connected(options);
    const what = `Create the ${role} key "${name}"`;
    const place = await beginChange(connection, what, options.yes);
    const wanted = { role, name, expiresAt: expiresAt?.toISOString() ?? null, origins, maxFlips };
    const made = answered(connection, await connection.management.keys.create(wanted));
    return show(made, place.text, place.json);
  }
  await withOperator(options, async ({ environments, keys }, place) => {
    const { id } = unwrap(await environments.find(environment));
    const wanted = unwrap(checkNewKey({ role, name, expiresAt, origins, maxFlips }, new Date()));
    const { apiKey, text } = await keys.createAsOperator(id, wanted);
    const json = { environment, ...place.json };
    show({ ...shownKeyOf(apiKey), key: text }, `in ${environment}${place.text}`, json);
  });
};

const revokeKey = async (id: string, options: Options): Promise<void> => {
  const environment = databaseOf(options);
  const show = (where: string, json: object) => {
    if (options.json) printJson({ id, revoked: true, ...json });
    else print(`Revoked the key ${id} ${where}.`);
  };
  if (environment === undefined) {
    const connection = connected(options);
    const place = await beginChange(connection, `Revoke the key ${id}`, options.yes);
    answered(connection, await connection.management.keys.revoke(id));
    return show(place.text, place.json);
  }
  await withOperator(options, async ({ environments, keys }, place) => {
    const found = unwrap(await environments.find(environment));
    if (isProductionName(environment) && isAtTerminal()) {
      await confirm(`Revoke the key ${id} in ${environment}${place.text}?`, options.yes);
    }
    unwrap(await keys.revokeAsOperator(found.id, id));
    show(`in ${environment}${place.text}`, { environment, ...place.json });
  });
};
