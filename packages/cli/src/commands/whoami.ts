// halyard whoami: shows the server, the environment and the role that commands use.
import { Command } from "commander";
import { type ConnectionOptions, connect, serverCommand } from "../server-connection/connection.ts";
import { checkKey } from "../server-connection/place.ts";
import { shownKey } from "../server-connection/profiles.ts";
import { withExamples } from "../terminal/examples.ts";
import { colored, inOneLine, print, printJson } from "../terminal/output.ts";

export const whoamiCommand = (): Command =>
  withExamples(
    serverCommand(new Command("whoami"), "any").description(
      "show the server, environment and role that commands use",
    ),
    "halyard whoami",
    "halyard whoami -p production",
  ).action(showKey);

const showKey = async (options: ConnectionOptions & { readonly json?: boolean }): Promise<void> => {
  const connection = connect(options);
  const { id, name, role, environment, expiresAt, proposes } = await checkKey(connection);
  const { url: server, key } = connection;
  if (options.json)
    return printJson({
      environment,
      server,
      role,
      id,
      name,
      expiresAt,
      ...(proposes && { proposes }),
    });
  print(colored("bold", environment));
  for (const [what, value] of Object.entries({
    server,
    role,
    name,
    key: shownKey(key),
    expires: expiresAt ?? "never",
    ...(proposes && { changes: "require approval: the environment is protected" }),
  })) {
    print(inOneLine(`  ${what.padEnd(7)}  ${value}`));
  }
};
