// Three instances on one database: a small run for `npm test`.
import { testInstances } from "./support/test-instances.ts";

testInstances({ calm: 30, changes: 120, flags: 30, rounds: 1, kills: 2, terminations: 3 });
