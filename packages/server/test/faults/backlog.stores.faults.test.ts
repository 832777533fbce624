// A receiver returns after a long absence: at full size.
import { testBacklog } from "./support/test-backlog.ts";

testBacklog({ backlog: 20_000, flags: 200, answerTime: 2 });
