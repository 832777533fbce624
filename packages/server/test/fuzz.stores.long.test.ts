// Generated requests to every operation: at full size.
import { testFuzz } from "./fuzz/test-fuzz.ts";

testFuzz({ runs: 5_000, least: 8, ofEach: 12 });
