// halyard users link-accounts and unlink-account: record which accounts belong to the same person.
import type { User } from "@halyard/sdk/management";
import { Argument, type Command } from "commander";
import { withExamples } from "../../terminal/examples.ts";
import { inOneLine, print, printAside, printJson } from "../../terminal/output.ts";
import { personNamed, type UserOptions, userCommand, withDirectory } from "./directory.ts";

const account = (name: string, description: string) => new Argument(`<${name}>`, description);
const yesOption = ["-y, --yes", "skip confirmation"] as const;
const described = "id, email address or name";

export const addLinkedAccountCommands = (group: Command): void => {
  const link = userCommand(group.command("link-accounts"))
    .description(
      "record that two accounts belong to the same person, who then can't approve their own changes",
    )
    .addArgument(account("person", `the first account: its ${described}`))
    .addArgument(account("other", `the other account: its ${described}`))
    .option(...yesOption)
    .action(linkAccounts);
  withExamples(link, "halyard users link-accounts ada@example.com usr_5d41402abc4b2a76");

  const unlink = userCommand(group.command("unlink-account"))
    .description("unlink an account from all other accounts")
    .addArgument(account("person", `its ${described}`))
    .option(...yesOption)
    .action(unlinkAccount);
  withExamples(unlink, "halyard users unlink-account ada@example.com");
};

const linkAccounts = (text: string, other: string, options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const one = await personNamed(directory, text);
    const two = await personNamed(directory, other);
    await directory.begin(`Link ${one.name} (${one.id}) and ${two.name} (${two.id})`);
    const linked = await directory.link(one.id, two.id);
    if (options.json) return printJson({ ...linked, ...directory.place });
    print(
      inOneLine(
        `${one.name} (${one.id}) and ${two.name} (${two.id}) now belong to the same person${directory.text}.`,
      ),
    );
  });

const unlinkAccount = (text: string, options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const { id, name } = await personNamed(directory, text);
    await directory.begin(`Unlink ${name} (${id})`);
    const unlinked = await directory.unlink(id);
    if (options.json) return printJson({ ...unlinked, ...directory.place });
    print(inOneLine(`${name} (${id}) is no longer linked to other accounts${directory.text}.`));
  });

/** Lists accounts that may belong to the same person but aren't linked, so that an owner can decide. */
export const printSameAddresses = (users: readonly User[]): void => {
  const byId = new Map(users.map((user) => [user.id, user]));
  for (const { id, name, sameAddress, linked } of users) {
    for (const other of sameAddress.filter((each) => id < each && !linked.includes(each))) {
      printAside(
        inOneLine(
          `${name} (${id}) and ${byId.get(other)?.name ?? other} (${other}) have the same email address: link them with halyard users link-accounts, or remove the unused account.`,
        ),
      );
    }
  }
};
