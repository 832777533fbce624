// The published cases of targeting: through the client in Node, and some over OFREP. browser.test.ts has the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@halyard/sdk";
import { checkGroups, groups } from "./support/targeting-cases.ts";
import { testOfrepCases } from "./support/test-ofrep-cases.ts";

test("every case, through the client", () => {
  const { cases, differences } = checkGroups(createClient, groups);
  assert.deepEqual(differences, []);
  assert.ok(cases >= 3_600, String(cases));
});

testOfrepCases({ every: 10, least: 200 });
