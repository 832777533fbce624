// Readers that take nothing: at full size.
import { testIdleReaders } from "./support/test-idle-readers.ts";

testIdleReaders({ connections: 400, waves: [1, 2], sendTimeout: 20_000, within: 60_000 });
