// Where commands for environments work: on a server with an owner's key, or in the database without a key.
import type { Environment as Shown } from "@halyard/sdk/management";
import type { Operator } from "@halyard/server/operator";
import { configFor, type OperatorOptions, withOperator } from "../../operator.ts";
import { givenAddress } from "../../server-connection/address.ts";
import {
  answered,
  type ConnectionOptions,
  connect,
  hasKey,
} from "../../server-connection/connection.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, unwrap } from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";

export type PlaceOptions = OperatorOptions & ConnectionOptions;
export type Environment = Omit<Shown, "role">;
export type Settings = Partial<Pick<Environment, "label" | "protected" | "expiresAt" | "maxFlips">>;
export type Removed = Awaited<ReturnType<Operator["environments"]["removed"]>>;

export interface Created extends Environment {
  readonly key: { readonly id: string; readonly key: string };
}

export interface EnvironmentPlace {
  /** Such as ` in the database /var/lib/halyard` or ` at https://flags.example.com`. */
  readonly text: string;
  /** The same place as JSON. */
  readonly json: object;
  list(): Promise<readonly Environment[]>;
  create(name: string, copyOf: string | undefined, settings: Settings): Promise<Created>;
  update(name: string, settings: Settings): Promise<Environment>;
  /** A summary of what deleting the environment deletes, and the number of its flags. */
  contents(name: string): Promise<{ readonly flags: number; readonly text: string }>;
  /** False if the rest is deleted in the background. */
  remove(name: string, withFlags: boolean): Promise<boolean>;
  /** Undefined if the place has no record of them. */
  readonly removed: (() => Promise<Removed>) | undefined;
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

const onServer = (options: PlaceOptions): EnvironmentPlace => {
  const connection = connect(
    options,
    " On the server's machine, --data FOLDER works on the database without a key.",
  );
  const { environments } = connection.management;
  const list = async () => answered(connection, await environments.list());
  return {
    text: inOneLine(` at ${connection.url}`),
    json: { server: connection.url },
    list,
    create: async (name, copyOf, settings) =>
      answered(
        connection,
        await environments.create({ name, ...settings, ...(copyOf !== undefined && { copyOf }) }),
      ),
    update: async (name, settings) =>
      answered(connection, await environments.update(name, settings)),
    async contents(name) {
      const found = (await list()).find((each) => each.name === name);
      if (!found) {
        throw new CommandFailed(
          `The environment "${name}" does not exist at ${connection.url}, or this key has no access to it. ${connection.hint("environments list")} lists the environments it can access.`,
          exitCodes.notFound,
        );
      }
      return {
        flags: found.flags,
        text: `${counted(found.flags, "flag")}, its webhooks, its keys`,
      };
    },
    async remove(name, flags) {
      const closed = answered(connection, await environments.delete(name, { flags }));
      return closed === undefined;
    },
    removed: undefined,
  };
};

type Stored = Awaited<ReturnType<Operator["environments"]["list"]>>[number];

const shownOf = (environment: Stored): Environment => ({
  name: environment.name,
  label: environment.label,
  protected: environment.isProtected,
  expiresAt: environment.expiresAt?.toISOString() ?? null,
  maxFlips: environment.maxFlips,
  createdAt: environment.createdAt.toISOString(),
  flags: environment.flagCount,
});

const stored = ({ label, protected: isProtected, expiresAt, maxFlips }: Settings) => ({
  ...(maxFlips !== undefined && { maxFlips }),
  ...(label !== undefined && { label }),
  ...(isProtected !== undefined && { isProtected }),
  ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
});

const inDatabase = (
  { environments }: Operator,
  place: Pick<EnvironmentPlace, "text" | "json">,
): EnvironmentPlace => ({
  ...place,
  list: async () => (await environments.list()).map(shownOf),
  async create(name, copyOf, settings) {
    const { operator } = await import("@halyard/server/roles");
    const progress = createProgress("rows copied");
    const { result } = await environments
      .createWithKey(
        { actor: operator },
        { name, ...stored(settings), copyOf },
        { onProgress: (rows) => progress.at(rows) },
      )
      .finally(() => progress.end());
    const { environment, key } = unwrap(result);
    return { ...shownOf(environment), key: { id: key.apiKey.id, key: key.text } };
  },
  async update(name, settings) {
    const { operator } = await import("@halyard/server/roles");
    return shownOf(unwrap(await environments.update({ actor: operator }, name, stored(settings))));
  },
  async contents(name) {
    const { flags, webhooks, keys } = unwrap(await environments.contents(name));
    const text = [counted(flags, "flag"), counted(webhooks, "webhook"), counted(keys, "key")];
    return { flags, text: text.join(", ") };
  },
  async remove(name, withFlags) {
    const progress = createProgress("rows deleted");
    await environments
      .remove(name, withFlags, (rows) => progress.at(rows))
      .finally(() => progress.end())
      .then(unwrap);
    return true;
  },
  removed: () => environments.removed(),
});

/** True if an address or a key is specified, or if there is no database here and a key is set. */
const usesServer = async (options: PlaceOptions): Promise<boolean> => {
  const { data, url, key, profile } = options;
  const server = Object.entries({ url, key, profile }).find(([, value]) => value !== undefined);
  if (data !== undefined && server) {
    throw new CommandFailed(
      `--data works on the database and --${server[0]} on a server: use only one of them.`,
      exitCodes.usage,
    );
  }
  if (data !== undefined) return false;
  if (server || givenAddress(options)) return true;
  const config = await configFor(undefined);
  if (config.database.kind !== "embedded") return false;
  const { hasStore } = await import("@halyard/server/operator");
  return !(await hasStore(config)) && hasKey(options);
};

export const withEnvironments = async (
  options: PlaceOptions,
  work: (place: EnvironmentPlace) => Promise<void>,
): Promise<void> => {
  if (await usesServer(options)) return work(onServer(options));
  await withOperator(options, (operator, place) => work(inDatabase(operator, place)));
};
