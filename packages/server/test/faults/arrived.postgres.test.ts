// Which of many clients lag: a small run for `npm test`.
import { testArrived } from "./support/test-arrived.ts";

testArrived({ clients: 12, changes: 3 });
