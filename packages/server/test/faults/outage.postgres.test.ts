// PostgreSQL goes away and comes back: a small run for `npm test`.
import { testOutage } from "./support/test-outage.ts";

testOutage({ outages: { crash: 4_000, freeze: 12_500 }, longestWait: 600_000, pause: 200 });
