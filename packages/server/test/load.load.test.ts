// More connections than the server can handle: at full size.
import { testLoad } from "./load/test-load.ts";

testLoad({ seconds: 600 });
