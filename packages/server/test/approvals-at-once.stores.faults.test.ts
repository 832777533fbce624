// Approvals at the same time: at full size.
import { testApprovalsAtOnce } from "./support/test-approvals-at-once.ts";

testApprovalsAtOnce({ crowd: 100, rounds: 50 });
