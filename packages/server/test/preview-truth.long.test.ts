// Previews against the truth: at full size.
import { testPreviewTruth } from "./support/test-preview-truth.ts";

testPreviewTruth({ population: 10_000, sampled: 500, changes: 400, asked: 100, mostOutside: 0.05 });
