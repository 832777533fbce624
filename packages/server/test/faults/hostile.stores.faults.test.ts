// Hostile receivers: at full size.
import { testHostile } from "./support/test-hostile.ts";

testHostile({ attemptsWanted: 6, longestAttempt: 16_000 });
