// What rules and segments cost: beside other SDKs on the same rules, beside plain flags, and beside small segments.
import { stopAll } from "./support/processes.ts";
import { compareHttp } from "./targeting/http.ts";
import { comparePlain } from "./targeting/plain.ts";
import { compareRules } from "./targeting/rules.ts";
import { compareSegmentSizes, measureSegments } from "./targeting/segments.ts";
import { compareSnapshots } from "./targeting/snapshots.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 31);
/** Of processor time, for each side of each round. */
const milliseconds = 60;
const starts = 3;
/** Of each round over HTTP. */
const requests = Number(process.env.BENCH_COUNT ?? 10_000);

try {
  await compareRules(rounds, milliseconds);
  await comparePlain(rounds, milliseconds);
  await compareHttp(Math.ceil(rounds / 2), starts, requests);
  compareSnapshots(rounds);
  await compareSegmentSizes(rounds, milliseconds);
  await measureSegments(starts);
} finally {
  await stopAll();
}
