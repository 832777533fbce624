// Which of many clients lag: at full size.
import { testArrived } from "./support/test-arrived.ts";

testArrived({ clients: 300, changes: 50 });
