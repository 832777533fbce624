// Several processes deliver from one database: a small run for `npm test`.
import { testWorkers } from "./support/test-workers.ts";

testWorkers({ changes: 120, naps: 1 });
