// halyard open: where to sign in to the dashboard; on the server's machine with a link that signs in once.
import { Command } from "commander";
import {
  configFor,
  dataOption,
  jsonOption,
  localAddress,
  type OperatorOptions,
  whenAvailable,
  withOperator,
} from "../../operator.ts";
import { addressOf, type ConnectionOptions } from "../../server-connection/connection.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, inOneLine, print, printAside, printJson } from "../../terminal/output.ts";

type OpenOptions = OperatorOptions & Pick<ConnectionOptions, "url" | "profile">;

export const openCommand = (): Command =>
  new Command("open")
    .description("print where to sign in to the dashboard, if possible with a link that signs in")
    .option("--url <address>", "the server's address")
    .option("-p, --profile <name>", "the server of this profile")
    .option(...dataOption)
    .option(...jsonOption)
    .addHelpText(
      "after",
      `
On the server's machine, with its database (DATABASE_URL, or the data folder), it prints a link that signs you in once,
within ten minutes, to every environment that has an admin key. The link is for the server of these settings; --data
together with --url names another address of it. For any other server (--url, HALYARD_URL, --profile) it prints the
address of the page where you sign in with an API key. It opens no browser: a link in the list of processes could be
used by others.

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
  const isElsewhere =
    data === undefined && ((options.url ?? profile) !== undefined || isRemote(environmentUrl()));
  const link = isElsewhere ? undefined : await newLink(options);
  const address = link ?? `${addressOf(options).replace(/\/+$/, "")}/sign-in`;
  if (json) return printJson({ url: address, signsIn: link !== undefined });
  print(inOneLine(address));
  printAside(
    link === undefined
      ? "Sign in there with an API key."
      : "Opening it within ten minutes signs you in, once.",
  );
};

const environmentUrl = (): string | undefined => process.env.HALYARD_URL || undefined;
/** The address of a server on another machine. */
const isRemote = (url: string | undefined): boolean =>
  url !== undefined && !/^(localhost|127\..*|\[::1\])$/.test(URL.parse(url)?.hostname ?? "");

/** Undefined when there is no database here. */
const newLink = async (options: OpenOptions): Promise<string | undefined> => {
  const config = await configFor(options.data);
  const { hasStore } = await import("@halyard/server/compose/operator");
  const isHere = await whenAvailable(() => hasStore(config));
  if (!isHere && options.data === undefined) return undefined;
  if (!config.dashboard) throw new CommandFailed("The dashboard is off: HALYARD_DASHBOARD is off.");
  // Without --url, an address of another machine in HALYARD_URL is not this server's.
  const local = isRemote(environmentUrl()) ? undefined : environmentUrl();
  const address = options.url ?? local ?? localAddress(config);
  const base = (options.url ?? config.publicUrl ?? address).replace(/\/+$/, "");
  let link = "";
  await withOperator(options, async ({ signInLinks }) => {
    await requireServer(address);
    link = `${base}/sign-in?once=${await signInLinks.issue()}`;
  });
  return link;
};

const timeout = 5_000;

/** A link to nowhere would be no help: the server may listen on another port. */
const requireServer = async (address: string): Promise<void> => {
  const signal = AbortSignal.timeout(timeout);
  const answer = await fetch(new URL("/healthz", address), { signal }).catch(() => undefined);
  if (answer?.ok) return;
  throw new CommandFailed(
    `No server responds at ${address}: start it with halyard serve, or name its address with HALYARD_URL.`,
    exitCodes.unavailable,
  );
};
