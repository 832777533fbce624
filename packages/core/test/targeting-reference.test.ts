// Random flags in core and in the reference: a small run for `npm test`.
import { testTargetingReference } from "./support/test-targeting-reference.ts";

testTargetingReference({ worlds: 60 });
