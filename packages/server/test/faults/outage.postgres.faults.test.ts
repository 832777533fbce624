// PostgreSQL goes away and comes back: at full size.
import { testOutage } from "./support/test-outage.ts";

testOutage({ outages: { crash: 20_000, freeze: 20_000 }, longestWait: 18_000, pause: 50 });
