// The machine's clock jumps: at full size.
import { testClock } from "./support/test-clock.ts";

testClock({ changes: 3_000 });
