// Evaluation in the past: a small run for `npm test`.
import { testTimeTravel } from "./support/test-time-travel.ts";

testTimeTravel({ changes: 40, singles: 1, every: 20, contexts: 3, explained: 12, byTime: 6 });
