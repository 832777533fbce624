// More connections than the server can handle: a small run for `npm test`.
import { testLoad } from "./load/test-load.ts";

testLoad({ seconds: 0 });
