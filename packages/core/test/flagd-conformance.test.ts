// A flagd engine on our definition: a small run for `npm test`.
import { testFlagdConformance } from "./support/test-flagd-conformance.ts";

testFlagdConformance({ worlds: 24 });
