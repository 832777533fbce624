// The versions of packages that the documents name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "./support/pages.ts";

test("documents name the versions that packages/server/test/ofrep.languages.test.ts tests", () => {
  const fixtures = "packages/server/test/fixtures";
  for (const requirement of read(`${fixtures}/ofrep-python/requirements.txt`).trim().split("\n")) {
    assert.ok(read("docs/evaluate/python.md").includes(requirement));
  }
  const required = [
    ...read(`${fixtures}/ofrep-go/go.mod`).matchAll(/^\t(\S*open-feature\S*) (v\S+)$/gm),
  ];
  assert.equal(required.length, 2);
  for (const [, name, version] of required) {
    assert.ok(read("docs/evaluate/go.md").includes(`${name}@${version}`));
  }
});
