// Kills while clients change flags: a small run for `npm test`.
import { testKill } from "./support/test-kill.ts";

testKill({ kills: 3 });
