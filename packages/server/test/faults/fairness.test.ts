// Bad receivers next to good ones: a small run for `npm test`.
import { testFairness } from "./support/test-fairness.ts";

testFairness({ rounds: 1, changes: 60 });
