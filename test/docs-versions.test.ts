// The versions of packages that the documents name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "./support/pages.ts";

test("documents name the versions that packages/server/test/ofrep.languages.test.ts tests", () => {
  const fixtures = "packages/server/test/fixtures";
  for (const requirement of read(`${fixtures}/ofrep-python/requirements.txt`).trim().split("\n")) {
    for (const page of ["README.md", "docs/evaluate/python.md"])
      assert.ok(read(page).includes(requirement), page);
  }
  const required = [
    ...read(`${fixtures}/ofrep-go/go.mod`).matchAll(/^\t(\S*open-feature\S*) (v\S+)$/gm),
  ];
  assert.equal(required.length, 2);
  for (const [, name, version] of required) {
    for (const page of ["README.md", "docs/evaluate/go.md"])
      assert.ok(read(page).includes(`${name}@${version}`), page);
  }
});
