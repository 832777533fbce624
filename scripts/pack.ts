// npm run pack: makes the tarballs of the packages, in dist/ or in the folder given.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packFolder } from "./packages/pack-folder.ts";
import { buildServer } from "./packages/server.ts";

const root = join(import.meta.dirname, "..");
const target = resolve(process.argv[2] ?? join(root, "dist"));

// The dashboard brings the tarball of the SDK, which the server serves: it must be the same one.
const dashboard = spawnSync(process.execPath, [join(root, "scripts/build-dashboard.ts")], {
  stdio: "inherit",
});
if (dashboard.status !== 0) process.exit(1);

mkdirSync(target, { recursive: true });
cpSync(join(root, "packages/dashboard/dist/sdk"), target, { recursive: true });
const made = mkdtempSync(join(tmpdir(), "halyard-package-"));
try {
  await buildServer(made);
  packFolder(made, target);
} finally {
  rmSync(made, { recursive: true, force: true });
}
for (const name of readdirSync(target).filter((file) => file.endsWith(".tgz"))) {
  const file = join(target, name);
  console.log(`${file} ${(statSync(file).size / 1_000).toFixed(0)} kB`);
}
