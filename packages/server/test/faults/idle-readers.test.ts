// Readers that take nothing: a small run for `npm test`.
import { testIdleReaders } from "./support/test-idle-readers.ts";

testIdleReaders({ connections: 30, waves: [1], timeout: "2", within: 600_000 });
