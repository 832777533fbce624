// Settings and Node: can a server start with them.
import type { Config } from "@halyard/server/config";
import { type Check, fail, ok, orFine, warn } from "./check.ts";

const oldestNode = 26;

export const nodeCheck = (version = process.versions.node): Check =>
  Number.parseInt(version, 10) >= oldestNode
    ? ok("node", `Node ${version}`)
    : fail(
        "node",
        `Node ${version} is too old: Halyard runs on ${oldestNode}`,
        `install Node ${oldestNode}, or run npm ci, which brings it along`,
      );

/** The mistakes as they stand in the message of a start that was refused. */
export const mistakeChecks = (message: string): Check[] =>
  message
    .split("\n")
    .map((line) => line.replace(/^(A setting is wrong: | {2}- )/, ""))
    .filter((line) => !/settings are wrong:$/.test(line))
    .map((line) =>
      fail("settings", line.replace(/\.$/, ""), "correct it; the store is looked at after that"),
    );

export const settingChecks = ({ unknown, host, port }: Config): Check[] =>
  orFine(
    unknown.map((name) =>
      warn(
        "settings",
        `${name} means nothing to Halyard`,
        "correct its spelling (docs/operating.md lists the settings), or remove it",
      ),
    ),
    "settings",
    `all understood; a server would listen on ${host}:${port}`,
  );
