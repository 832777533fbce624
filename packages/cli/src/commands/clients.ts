// halyard clients: shows which clients have applied the last change, or a given revision.
import type { Programs } from "@halyard/sdk/management";
import { Command } from "commander";
import {
  answered,
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../server-connection/connection.ts";
import { reachedText } from "../server-connection/wait.ts";
import { withExamples } from "../terminal/examples.ts";
import { agoOf } from "../terminal/flag-text.ts";
import { wholeNumber } from "../terminal/option-values.ts";
import { type Cell, print, printJson, printTable } from "../terminal/output.ts";

interface ClientsOptions extends ConnectionOptions {
  readonly revision?: number;
  readonly json?: boolean;
}

export const clientsCommand = (): Command =>
  withExamples(
    serverCommand(new Command("clients"), "a server")
      .description("show which clients have the last change, most outdated first")
      .option(
        "--revision <number>",
        "show which clients have this revision of the environment",
        wholeNumber(0),
      ),
    "halyard clients",
    "halyard clients --json -p production",
  ).action(showClients);

type State = Programs["clients"][number]["state"];
const styles = { current: "green", behind: "yellow", lost: "red" } as const;
const stateCell = (state: State): Cell => ({ style: styles[state], text: state });

const showClients = async ({ revision, ...options }: ClientsOptions): Promise<void> => {
  const connection = connect(options);
  const query = revision === undefined ? {} : { revision };
  const found = answered(connection, await connection.management.clients(query));
  if (options.json) return printJson(found);
  const when = found.changedAt === null ? "" : `, ${agoOf(found.changedAt)}`;
  print(`Revision ${found.revision}${when}. ${reachedText(found)}`);
  print("");
  printTable(
    ["instance", "state", "revision", "behind", "version", "seen"],
    found.instances.map(({ name, state, revision: has, lag, version, seenAt }) => {
      return [name, stateCell(state), String(has), String(lag), version, agoOf(seenAt)];
    }),
  );
  if (found.clients.length === 0) return;
  print("");
  printTable(
    ["client", "state", "revision", "behind", "sdk", "connection", "instance", "seen"],
    found.clients.map((client) => [
      client.name,
      stateCell(client.state),
      String(client.revision),
      String(client.lag),
      client.sdk,
      client.connection,
      client.instance,
      agoOf(client.seenAt),
    ]),
  );
  if (found.clientsLeftOut > 0) print(`and ${found.clientsLeftOut} more clients.`);
};
