// Shares of very many keys: at full size.
import { testRolloutStatistics } from "./support/test-rollout-statistics.ts";

testRolloutStatistics({ total: 1_000_000 });
