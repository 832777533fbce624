// Hostile receivers: a small run for `npm test`.
import { testHostile } from "./support/test-hostile.ts";

testHostile({ attemptsWanted: 1, longestAttempt: 120_000 });
