// Finds the promtool of this machine, or takes it out of Debian's package, without installing a Prometheus.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./pages.ts";

const place = join(root, "node_modules/.cache/halyard-test/promtool");

const run = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { cwd: place, timeout: 600_000, stdio: "ignore" }).status === 0;

/** Its path; undefined where there is none. */
export const findPromtool = (): string | undefined => {
  const own = join(place, "usr/bin/promtool");
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = [...folders.map((folder) => join(folder, "promtool")), own].find(existsSync);
  if (found !== undefined || !existsSync("/usr/bin/apt-get")) return found;
  mkdirSync(place, { recursive: true });
  const download = () => run("apt-get", "download", "prometheus");
  // The lists may be missing; only root can fetch them.
  if (!download() && (!run("apt-get", "update") || !download())) return undefined;
  const [archive = ""] = globSync("prometheus_*.deb", { cwd: place });
  return run("dpkg-deb", "-x", archive, ".") && existsSync(own) ? own : undefined;
};
