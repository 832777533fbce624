// What a broken request costs: a small run for `npm test`.
import { testRequestCost } from "./load/test-request-cost.ts";

testRequestCost({ rounds: 1 });
