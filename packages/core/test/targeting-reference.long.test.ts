// Random flags in core and in the reference: at full size.
import { testTargetingReference } from "./support/test-targeting-reference.ts";

testTargetingReference({ worlds: 2_000 });
