// What rules cost in memory, compared with other SDKs on the same rules.
import { stopAll } from "./support/processes.ts";
import { compareRules } from "./targeting/rules.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 31);
/** Of processor time, for each side of each round. */
const milliseconds = 60;

try {
  await compareRules(rounds, milliseconds);
} finally {
  await stopAll();
}
