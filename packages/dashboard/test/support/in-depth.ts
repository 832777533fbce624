// Tests beyond what a page is for: they have a run of their own, so that `npm test` stays short.
import type { TestContext } from "node:test";
import { full } from "../../../server/test/faults/support/size.ts";

/** True when the test is to end at once. */
export const isLeftOut = (t: TestContext): boolean => {
  if (!full) t.skip("npm run test:pages runs it");
  return !full;
};
