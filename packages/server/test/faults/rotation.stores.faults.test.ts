// Secrets are rotated in the middle of deliveries: at full size.
import { testRotation } from "./support/test-rotation.ts";

testRotation({ eventsEachPhase: 2_000, awaitsRemoval: true });
