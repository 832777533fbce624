// The generated pages are current: they say what the help of the commands and the OpenAPI document say now.
import assert from "node:assert/strict";
import { test } from "node:test";
import { referencePages } from "../scripts/reference-docs.ts";
import { read } from "./support/pages.ts";

test("npm run docs would change nothing", async () => {
  for (const [path, text] of Object.entries(await referencePages())) {
    assert.equal(read(path), text, `${path} is out of date: run npm run docs`);
  }
});
