// Two processes start on an empty database: a small run for `npm test`.
import { testStart } from "./support/test-start.ts";

testStart({ rounds: 1 });
