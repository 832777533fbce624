// A receiver returns after a long absence: a small run for `npm test`.
import { testBacklog } from "./support/test-backlog.ts";

testBacklog({ backlog: 600, flags: 50, answerTime: 5 });
