// Bad receivers next to good ones: at full size.
import { testFairness } from "./support/test-fairness.ts";

testFairness({ rounds: 5, changes: 250, limits: { p99: 2, throughput: 0.9 } });
