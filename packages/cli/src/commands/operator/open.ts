// halyard open: prints where to sign in to the dashboard. On the server's machine, the link signs you in once.
import { Command } from "commander";
import {
  configFor,
  type DatabasePlace,
  dataOption,
  jsonOption,
  localAddress,
  type OperatorOptions,
  whenAvailable,
  withOperator,
} from "../../operator.ts";
import { addressOf, givenAddress } from "../../server-connection/address.ts";
import type { ConnectionOptions } from "../../server-connection/connection.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print, printAside, printJson } from "../../terminal/output.ts";

type OpenOptions = OperatorOptions & Pick<ConnectionOptions, "url" | "profile">;

export const openCommand = (): Command =>
  new Command("open")
    .description(
      "print the dashboard's sign-in address, or a one-time sign-in link on the server's machine",
    )
    .option("--url <address>", "the server's address")
    .option("-p, --profile <name>", "the server of this profile")
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
On the server's machine, with its database, it prints a link that signs you in once, within ten minutes, to every
environment that has an admin key. It uses the database of --data, or of the settings (DATABASE_URL, HALYARD_DATA or
./data) if no address is set. The link is for the server of these settings; --data together with --url names
another address of it. For any other server (--url, HALYARD_URL or a profile) it prints the address at which
you sign in with an API key. It opens no browser, because other users could read the link in the list of processes.

Examples:
  halyard open
  halyard open --data /var/lib/halyard --url https://flags.example.com
  halyard open -p production`,
    )
    .action(open);

const open = async (options: OpenOptions): Promise<void> => {
  const { data, profile, json } = options;
  if (data !== undefined && profile !== undefined) {
    throw new CommandFailed(
      "--data is for the database and --profile for a server: use only one of them.",
      exitCodes.usage,
    );
  }
  const isElsewhere = data === undefined && givenAddress(options) !== undefined;
  const made = isElsewhere ? undefined : await newLink(options);
  const address = made?.link ?? `${addressOf(options).replace(/\/+$/, "")}/sign-in`;
  if (json) return printJson({ url: address, signsIn: made !== undefined, ...made?.place.json });
  print(inOneLine(address));
  printAside(
    made === undefined
      ? "Sign in there with an API key. On the server's machine, --data FOLDER prints a sign-in link."
      : `The link signs you in once, within ten minutes. It is stored${made.place.text}.`,
  );
};

interface Made {
  readonly link: string;
  /** The database that stores the link. */
  readonly place: DatabasePlace;
}

/** Undefined if there is no database here. */
const newLink = async (options: OpenOptions): Promise<Made | undefined> => {
  const config = await configFor(options.data);
  const { hasStore } = await import("@halyard/server/operator");
  const isHere = await whenAvailable(() => hasStore(config));
  if (!isHere && options.data === undefined) return undefined;
  if (!config.dashboard) throw new CommandFailed("The dashboard is off: HALYARD_DASHBOARD is off.");
  const address = options.url ?? localAddress(config);
  const base = (options.url ?? config.publicUrl ?? address).replace(/\/+$/, "");
  let made: Made | undefined;
  await withOperator(options, async ({ signInLinks }, place) => {
    await requireServer(address);
    made = { link: `${base}/sign-in?once=${await signInLinks.issue()}`, place };
  });
  return made;
};

const timeout = 5_000;

/** Fails if no server responds, because the link would lead nowhere. The server may listen on another port. */
const requireServer = async (address: string): Promise<void> => {
  const signal = AbortSignal.timeout(timeout);
  const answer = await fetch(new URL("/healthz", address), { signal }).catch(() => undefined);
  if (answer?.ok) return;
  throw new CommandFailed(
    `No server responds at ${address}: start it with halyard serve, or specify its address with --data FOLDER --url ADDRESS.`,
    exitCodes.unavailable,
  );
};
