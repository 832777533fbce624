// A flagd engine on our definition: at full size.
import { testFlagdConformance } from "./support/test-flagd-conformance.ts";

testFlagdConformance({ worlds: 2_500 });
