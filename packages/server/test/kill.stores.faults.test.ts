// Kills while clients change flags: at full size.
import { testKill } from "./support/test-kill.ts";

testKill({ kills: 20 });
