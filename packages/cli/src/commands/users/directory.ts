// Where commands for users work: on a server with an owner's key, or in its database without a key.
import type { InvitedUser, NewUser, User, UserPatch } from "@halyard/sdk/management";
import { emailKeyOf, shownUser } from "@halyard/server/people";
import { operator as operatorActor } from "@halyard/server/roles";
import type { Command } from "commander";
import {
  configFor,
  dataOption,
  localAddress,
  type OperatorOptions,
  withOperator,
} from "../../operator.ts";
import { givenAddress, requireNoAddress } from "../../server-connection/address.ts";
import {
  answered,
  type ConnectionOptions,
  connect,
  hasKey,
  serverCommand,
} from "../../server-connection/connection.ts";
import { beginChange } from "../../server-connection/place.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, unwrap } from "../../terminal/output.ts";

export interface UserOptions extends OperatorOptions, ConnectionOptions {
  readonly database?: boolean;
  readonly yes?: boolean;
}

export interface Directory {
  /** Such as ` in the database /var/lib/halyard` or ` at https://flags.example.com`. */
  readonly text: string;
  /** The same place as JSON. */
  readonly place: object;
  list(): Promise<readonly User[]>;
  /** Asks for confirmation in production. `what` describes the change. */
  begin(what: string): Promise<void>;
  invite(user: NewUser): Promise<InvitedUser>;
  update(id: string, patch: UserPatch): Promise<User>;
  remove(id: string): Promise<void>;
  link(id: string, other: string): Promise<User>;
  unlink(id: string): Promise<User>;
  newInvitation(id: string): Promise<InvitedUser["invitation"]>;
}

export const userCommand = (command: Command): Command =>
  serverCommand(command, "an owner")
    .option("--database", "work on the database of the settings, even if a key is set")
    .option(...dataOption)
    .addHelpText(
      "after",
      `
With an address (--url, HALYARD_URL or a profile) or an API key, it calls a server; the key needs the role owner. With
--data, or without an address and a key, it works on the database directly. --database ignores a key, not an address.`,
    );

const isForDatabase = (options: UserOptions): boolean => {
  const { database, data, url, key, profile } = options;
  const isWanted = database === true || data !== undefined;
  const server = Object.entries({ url, key, profile }).find(([, value]) => value !== undefined);
  if (isWanted && server) {
    throw new CommandFailed(
      `--${data === undefined ? "database" : "data"} works on the database and --${server[0]} on a server: use only one of them.`,
      exitCodes.usage,
    );
  }
  if (data !== undefined) return true;
  if (isWanted) requireNoAddress();
  return isWanted || (!server && !givenAddress(options) && !hasKey(options));
};

const onServer = (options: UserOptions): Directory => {
  const connection = connect(
    options,
    " On the server's machine, --data FOLDER works on the database without a key.",
  );
  const { users } = connection.management;
  const ask = async <T>(result: Promise<Parameters<typeof answered<T>>[1]>): Promise<T> =>
    answered(connection, await result);
  return {
    text: inOneLine(` at ${connection.url}`),
    place: { server: connection.url },
    list: () => ask(users.list()),
    begin: async (what) => void (await beginChange(connection, what, options.yes)),
    invite: (user) => ask(users.invite(user)),
    update: (id, patch) => ask(users.update(id, patch)),
    remove: (id) => ask(users.remove(id)),
    link: (id, other) => ask(users.link(id, other)),
    unlink: (id) => ask(users.unlink(id)),
    newInvitation: (id) => ask(users.newInvitation(id)),
  };
};

/** The users of the server or the database that the options specify. */
export const withDirectory = async (
  options: UserOptions,
  work: (directory: Directory) => Promise<void>,
): Promise<void> => {
  if (!isForDatabase(options)) return work(onServer(options));
  const config = await configFor(options.data);
  const base = config.publicUrl ?? localAddress(config);
  const author = { actor: operatorActor };
  const rightsOf = ({ owner, ...rest }: UserPatch) => ({
    ...rest,
    ...(owner !== undefined && { isOwner: owner }),
  });
  const shownLink = ({ token, expiresAt }: { token: string; expiresAt: Date }) => ({
    url: `${base}/invitation?token=${token}`,
    expiresAt: expiresAt.toISOString(),
  });
  await withOperator(options, ({ users }, { text, json }) =>
    work({
      text,
      place: json,
      list: async () => (await users.list()).map(shownUser),
      begin: async () => undefined,
      async invite({ owner: isOwner = false, ...wanted }) {
        const { result } = await users.invite(author, { ...wanted, isOwner });
        const { user, invitation } = unwrap(result);
        return { ...shownUser(user), invitation: shownLink(invitation) };
      },
      update: async (id, patch) =>
        shownUser(unwrap(await users.change(author, id, rightsOf(patch)))),
      remove: async (id) => unwrap(await users.remove(author, id)),
      link: async (id, other) => shownUser(unwrap(await users.link(author, id, other))),
      unlink: async (id) => shownUser(unwrap(await users.unlink(author, id))),
      newInvitation: async (id) => shownLink(unwrap(await users.newInvitation(author, id))),
    }),
  );
};

/** The user with this id, email address or name. */
export const personNamed = async <T extends Pick<User, "id" | "name" | "email">>(
  directory: { list(): Promise<readonly T[]> },
  text: string,
): Promise<T> => {
  const all = await directory.list();
  const byId = all.find(({ id }) => id === text);
  if (byId) return byId;
  const isAddress = text.includes("@");
  const found = all.filter(({ name, email }) =>
    isAddress ? email !== null && emailKeyOf(email) === emailKeyOf(text) : name === text,
  );
  const [only, ...others] = found;
  if (!only) {
    throw new CommandFailed(
      `No user has the id, email address or name "${text}". halyard users list shows all users.`,
      exitCodes.notFound,
    );
  }
  if (others.length === 0) return only;
  throw new CommandFailed(
    `${found.length} users have the name "${text}": use an id or an email address, which halyard users list shows.`,
    exitCodes.conflict,
  );
};
