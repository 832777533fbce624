// Shares of very many keys: a small run for `npm test`.
import { testRolloutStatistics } from "./support/test-rollout-statistics.ts";

testRolloutStatistics({ total: 200_000 });
