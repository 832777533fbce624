// PostgreSQL ends connections: a small run for `npm test`.
import { testConnections } from "./support/test-connections.ts";

testConnections({ terminations: 10 });
