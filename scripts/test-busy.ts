// npm run test:busy: the whole of npm test beside five busy loops for each core, as on a machine that others use too.
import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const count = 5 * availableParallelism();
// A loop ends with its parent, however that ends: it looks four times a second whether it still has the same one.
const loop = `const parent = process.ppid;
  for (let next = 0; process.ppid === parent; next = Date.now() + 250) while (Date.now() < next);`;
const loops = Array.from({ length: count }, () =>
  spawn(process.execPath, ["-e", loop], { stdio: "ignore" }),
);
console.log(`${count} busy loops on ${availableParallelism()} cores`);
const started = performance.now();
const tests = spawnSync(
  process.execPath,
  [join(import.meta.dirname, "test.ts"), ...process.argv.slice(2)],
  { stdio: "inherit" },
);
for (const each of loops) each.kill();
console.log(
  `beside ${count} busy loops: ${((performance.now() - started) / 60_000).toFixed(1)} min`,
);
process.exitCode = tests.status ?? 1;
