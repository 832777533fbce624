// Kills while events are delivered: at full size.
import { testKillLoop } from "./support/test-kill-loop.ts";

testKillLoop({ changes: 20_000, flags: 200, kills: 100 });
