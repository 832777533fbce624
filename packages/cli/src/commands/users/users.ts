// halyard users: invites users, sets their roles, and removes them.
import type { PersonRole, User } from "@halyard/sdk/management";
import { personRoles } from "@halyard/server/roles";
import { Argument, Command, InvalidArgumentError } from "commander";
import { type OperatorOptions, operatorCommand, withOperator } from "../../operator.ts";
import { confirm, isAtTerminal } from "../../terminal/ask.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import {
  CommandFailed,
  inOneLine,
  print,
  printAside,
  printJson,
  printTable,
  unwrap,
} from "../../terminal/output.ts";
import {
  type Directory,
  personNamed,
  type UserOptions,
  userCommand,
  withDirectory,
} from "./directory.ts";
import { addLinkedAccountCommands, printSameAddresses } from "./linked-accounts.ts";

interface InviteOptions extends UserOptions {
  readonly email?: string;
  readonly owner?: boolean;
  readonly role?: Readonly<Record<string, PersonRole>>;
}

interface RoleOptions extends UserOptions {
  readonly owner?: boolean;
}

const isRole = (text: string | undefined): text is PersonRole =>
  personRoles.some((role) => role === text);

/** Collects values such as `production=editor`. */
const roleIn = (text: string, before: Readonly<Record<string, PersonRole>> = {}) => {
  const [environment = "", role] = text.split("=", 2);
  if (environment !== "" && isRole(role)) return { ...before, [environment]: role };
  throw new InvalidArgumentError(
    `It must be an environment and one of ${personRoles.join(", ")}, such as production=editor.`,
  );
};

const yesOption = ["-y, --yes", "skip confirmation"] as const;
const person = new Argument("<person>", "their id, email address or name");

export const userCommands = (): Command => {
  const group = new Command("users").description(
    "invite users, set their roles and remove them, on a server or in its database",
  );

  const list = userCommand(group.command("list")).description("list all users").action(listUsers);
  withExamples(list, "halyard users list", "halyard users list --data ./data");

  const invite = userCommand(group.command("invite"))
    .description("invite a user and print the invitation link once")
    .argument("<name>", "their name in history and events")
    .option("--email <address>", "their email address for signing in with a password")
    .option("--role <environment=role>", "their role in an environment; can be repeated", roleIn)
    .option(
      "--owner",
      "make them an owner, who manages users and environments and can change everything",
    )
    .option(...yesOption)
    .action(inviteUser);
  withExamples(
    invite,
    'halyard users invite "Ada Lovelace" --email ada@example.com --role production=editor --role development=admin',
    "halyard users invite Grace --email grace@example.com --owner",
  );

  const role = userCommand(group.command("role"))
    .description("set a user's role in an environment, or make them an owner")
    .addArgument(person)
    .argument("[environment]", "the name of the environment")
    .addArgument(new Argument("[role]", "their role there").choices([...personRoles, "none"]))
    .option("--owner", "make them an owner")
    .option("--no-owner", "remove the owner role, leaving only the role that you specify")
    .option(...yesOption)
    .action(setRole);
  withExamples(
    role,
    "halyard users role ada@example.com production admin",
    "halyard users role ada@example.com production none",
    "halyard users role ada@example.com --owner",
    "halyard users role ada@example.com production editor --no-owner",
  );

  const link = userCommand(group.command("link"))
    .description("print a new invitation link, including for lost passwords")
    .addArgument(person)
    .option(...yesOption)
    .action(newLink);
  withExamples(link, "halyard users link ada@example.com");

  addLinkedAccountCommands(group);

  const lost = operatorCommand(group.command("reset-second-factor"))
    .description(
      "turn off two-factor authentication for a user who lost the device and the recovery codes; in the database only",
    )
    .addArgument(person)
    .action(resetSecondFactor);
  withExamples(lost, "halyard users reset-second-factor ada@example.com");

  const remove = userCommand(group.command("remove"))
    .description("remove a user; their sessions and personal keys end immediately")
    .addArgument(person)
    .option(...yesOption)
    .action(removeUser);
  withExamples(remove, "halyard users remove ada@example.com --yes");

  return group;
};

const rightsText = ({ owner, roles }: User): string =>
  owner
    ? "owner"
    : Object.entries(roles)
        .map(([environment, role]) => `${environment}=${role}`)
        .join(" ") || "none";

const listUsers = (options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const users = await directory.list();
    if (options.json) return printJson(users);
    printTable(
      ["id", "name", "email", "roles", "state", "signed in"],
      users.map((user) => [
        user.id,
        user.name,
        user.email ?? "",
        rightsText(user),
        user.state,
        user.signedInAt ?? "never",
      ]),
    );
    printSameAddresses(users);
  });

const printLink = (
  name: string,
  { url, expiresAt }: { url: string; expiresAt: string },
  { text }: Directory,
): void => {
  print(url);
  printAside(
    `Send this link to ${name}, who has an account${text}. It works once, until ${expiresAt}, and won't be shown again.`,
  );
};

const inviteUser = (name: string, options: InviteOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const { email = null, owner = false, role: roles = {} } = options;
    await directory.begin(`Invite ${name}`);
    const made = await directory.invite({ name, email, owner, roles });
    if (options.json) return printJson({ ...made, ...directory.place });
    printLink(name, made.invitation, directory);
  });

const newLink = (text: string, options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const { id, name } = await personNamed(directory, text);
    await directory.begin(`Create a new link for ${name}`);
    const invitation = await directory.newInvitation(id);
    if (options.json) return printJson({ id, ...invitation, ...directory.place });
    printLink(name, invitation, directory);
  });

const setRole = (
  text: string,
  environment: string | undefined,
  role: PersonRole | "none" | undefined,
  options: RoleOptions,
): Promise<void> => {
  const { owner } = options;
  if (environment === undefined && owner === undefined) {
    throw new CommandFailed(
      "Specify an environment and a role, such as production editor, or --owner.",
      exitCodes.usage,
    );
  }
  if (environment !== undefined && role === undefined) {
    throw new CommandFailed(`Specify a role: ${personRoles.join(", ")} or none.`, exitCodes.usage);
  }
  return withDirectory(options, async (directory) => {
    const { id, name } = await personNamed(directory, text);
    await directory.begin(`Change the roles of ${name}`);
    const changed = await directory.update(id, {
      ...(owner !== undefined && { owner }),
      ...(environment !== undefined &&
        role !== undefined && { roles: { [environment]: role === "none" ? null : role } }),
    });
    if (options.json) return printJson({ ...changed, ...directory.place });
    print(inOneLine(`${changed.name} has these roles${directory.text}: ${rightsText(changed)}.`));
  });
};

const resetSecondFactor = (text: string, options: OperatorOptions): Promise<void> =>
  withOperator(options, async ({ users }, place) => {
    const { id, name } = await personNamed(users, text);
    unwrap(await users.removeSecondFactor(id));
    if (options.json) return printJson({ id, ...place.json });
    print(
      inOneLine(
        `Turned off two-factor authentication for ${name} (${id})${place.text}, and ended their sessions.`,
      ),
    );
  });

const removeUser = (text: string, options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const { id, name } = await personNamed(directory, text);
    if (isAtTerminal()) await confirm(`Remove ${name} (${id})${directory.text}?`, options.yes);
    await directory.remove(id);
    if (options.json) return printJson({ id, removed: true, ...directory.place });
    print(inOneLine(`Removed ${name} (${id})${directory.text}.`));
  });
