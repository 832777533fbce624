// Readers that take nothing: a small run for `npm test`.
import { testIdleReaders } from "./support/test-idle-readers.ts";

testIdleReaders({ connections: 30, waves: [1], sendTimeout: 2_000, within: 600_000 });
