// Several processes deliver from one database: at full size.
import { testWorkers } from "./support/test-workers.ts";

testWorkers({ changes: 6_000, naps: 4 });
