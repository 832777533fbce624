// Secrets are rotated in the middle of deliveries: a small run for `npm test`.
import { testRotation } from "./support/test-rotation.ts";

testRotation({ eventsEachPhase: 40, awaitsRemoval: false });
