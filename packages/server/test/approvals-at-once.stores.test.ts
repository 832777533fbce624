// Approvals at the same time: a small run for `npm test`.
import { testApprovalsAtOnce } from "./support/test-approvals-at-once.ts";

testApprovalsAtOnce({ crowd: 20, rounds: 20 });
