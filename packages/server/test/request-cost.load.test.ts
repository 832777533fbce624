// What a broken request costs: at full size.
import { testRequestCost } from "./load/test-request-cost.ts";

testRequestCost({ rounds: 15 });
