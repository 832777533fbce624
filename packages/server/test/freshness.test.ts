// What one instance has answered, every other one shows: a small run for `npm test`.
import { testFreshness } from "./support/test-freshness.ts";

testFreshness({ rounds: 12 });
