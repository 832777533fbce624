// Tests beyond what a page is for. They take a third of the time of all page tests, so they have a run of their own.
import type { TestContext } from "node:test";
import { full } from "../../../server/test/faults/support/size.ts";

/** True when the test is to end at once. */
export const isLeftOut = (t: TestContext): boolean => {
  if (!full) t.skip("npm run test:pages runs it");
  return !full;
};
