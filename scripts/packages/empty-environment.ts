// The shell of somebody who has seen nothing of ours yet.
import { delimiter, dirname, join } from "node:path";

/** This Node, an empty npm cache in the folder, and none of the repository's commands. */
export const emptyEnvironment = (folder: string) => {
  const paths = (process.env.PATH ?? "").split(delimiter);
  const own = paths.filter((path) => !path.includes("node_modules"));
  return {
    HOME: folder,
    PATH: [dirname(process.execPath), ...own].join(delimiter),
    npm_config_cache: join(folder, "npm-cache"),
    npm_config_update_notifier: "false",
  };
};
