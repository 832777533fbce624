// Generated requests to every operation: a small run for `npm test`.
import { testFuzz } from "./fuzz/test-fuzz.ts";

testFuzz({ runs: 6, least: 0, ofEach: 1 });
