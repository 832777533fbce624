// The machine's clock jumps: a small run for `npm test`.
import { testClock } from "./support/test-clock.ts";

testClock({ changes: 120 });
