// halyard users link-accounts and unlink-account: which accounts belong to one human.
import type { User } from "@halyard/sdk/management";
import { Argument, type Command } from "commander";
import { withExamples } from "../../terminal/examples.ts";
import { inOneLine, print, printAside, printJson } from "../../terminal/output.ts";
import { personNamed, type UserOptions, userCommand, withDirectory } from "./directory.ts";

const account = (name: string, description: string) => new Argument(`<${name}>`, description);
const yesOption = ["-y, --yes", "do not ask for confirmation"] as const;
const described = "id, e-mail address or name";

export const addLinkedAccountCommands = (group: Command): void => {
  const link = userCommand(group.command("link-accounts"))
    .description("declare that two accounts belong to one human, who then can't approve alone")
    .addArgument(account("person", `the one account: its ${described}`))
    .addArgument(account("other", `the other account: its ${described}`))
    .option(...yesOption)
    .action(linkAccounts);
  withExamples(link, "halyard users link-accounts ada@example.com usr_5d41402abc4b2a76");

  const unlink = userCommand(group.command("unlink-account"))
    .description("separate an account from all accounts that it is linked with")
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
        `${one.name} (${one.id}) and ${two.name} (${two.id}) are accounts of one human${directory.text}.`,
      ),
    );
  });

const unlinkAccount = (text: string, options: UserOptions): Promise<void> =>
  withDirectory(options, async (directory) => {
    const { id, name } = await personNamed(directory, text);
    await directory.begin(`Unlink ${name} (${id})`);
    const unlinked = await directory.unlink(id);
    if (options.json) return printJson({ ...unlinked, ...directory.place });
    print(inOneLine(`${name} (${id}) is linked with no other account${directory.text}.`));
  });

/** Lists accounts that look like one human's but aren't linked, so that an owner can decide. */
export const printSameAddresses = (users: readonly User[]): void => {
  const byId = new Map(users.map((user) => [user.id, user]));
  for (const { id, name, sameAddress, linked } of users) {
    for (const other of sameAddress.filter((each) => id < each && !linked.includes(each))) {
      printAside(
        inOneLine(
          `${name} (${id}) and ${byId.get(other)?.name ?? other} (${other}) have the same e-mail address: link them with halyard users link-accounts, or remove the account that is not used.`,
        ),
      );
    }
  }
};
