// Evaluation in the past: at full size.
import { testTimeTravel } from "./support/test-time-travel.ts";

testTimeTravel({
  changes: 1_000,
  singles: 4,
  every: 5,
  contexts: 3,
  explained: 2_000,
  byTime: 500,
});
