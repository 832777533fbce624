// Kills while events are delivered: a small run for `npm test`.
import { testKillLoop } from "./support/test-kill-loop.ts";

testKillLoop({ changes: 300, flags: 30, kills: 2 });
