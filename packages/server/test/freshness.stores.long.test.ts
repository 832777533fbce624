// What one instance has answered, every other one shows: at full size.
import { testFreshness } from "./support/test-freshness.ts";

testFreshness({ rounds: 200 });
