// Checks of the settings and the Node version.
import type { Config } from "@halyard/server/settings";
import { type Check, fail, ok, orOk, warn } from "./check.ts";

const oldestNode = 26;

export const nodeCheck = (version = process.versions.node): Check =>
  Number.parseInt(version, 10) >= oldestNode
    ? ok("node", `Node ${version}`)
    : fail(
        "node",
        `Node ${version} is too old: Halyard needs ${oldestNode}`,
        `install Node ${oldestNode}, or run npm ci, which installs it`,
      );

/** Extracted from the message of a server that refuses to start. */
export const mistakeChecks = (message: string): Check[] =>
  message
    .split("\n")
    .map((line) => line.replace(/^(A setting is wrong: | {2}- )/, ""))
    .filter((line) => !/settings are wrong:$/.test(line))
    .map((line) =>
      fail("settings", line.replace(/\.$/, ""), "correct it, then the database can be checked"),
    );

export const settingChecks = ({ unknown, host, port }: Config): Check[] =>
  orOk(
    unknown.map((name) =>
      warn(
        "settings",
        `${name} is not a setting of Halyard`,
        "correct its spelling (docs/operate/settings.md lists the settings), or remove it",
      ),
    ),
    "settings",
    `all valid; a server would listen on ${host}:${port}`,
  );
