// Two processes start on an empty database: at full size.
import { testStart } from "./support/test-start.ts";

testStart({ rounds: 30 });
