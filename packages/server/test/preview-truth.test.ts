// Previews against the truth: a small run for `npm test`.
import { testPreviewTruth } from "./support/test-preview-truth.ts";

testPreviewTruth({ population: 1_000, sampled: 100, changes: 40, asked: 20, mostOutside: 0.02 });
