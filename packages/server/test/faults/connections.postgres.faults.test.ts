// PostgreSQL ends connections: at full size.
import { testConnections } from "./support/test-connections.ts";

testConnections({ terminations: 300 });
