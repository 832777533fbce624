// The check of rooms itself: it finds an import that runs upward or sideways, and lets the others pass.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findBreaches } from "../scripts/check-rooms.ts";

/** The breaches of a project that holds just these files. */
const breachesOf = (files: Readonly<Record<string, string>>): string[] => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-rooms-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return findBreaches(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const importing = (name: string) => `import { x } from "${name}";\nexport const y = x;\n`;
const server = "packages/server/src";

const cases: Readonly<
  Record<string, { readonly refused: readonly string[]; readonly allowed: readonly string[] }>
> = {
  "packages/core/src/x.ts": {
    refused: ["node:fs", "node:crypto", "@halyard/server", "fastify", "kysely"],
    allowed: ["./flag.ts"],
  },
  [`${server}/platform/http/x.ts`]: {
    refused: ["../../features/flags/flags.ts", "../../process/log.ts", "undici", "pg"],
    allowed: ["../auth/principal.ts", "../errors.ts", "fastify", "node:http"],
  },
  [`${server}/platform/database/x.ts`]: {
    refused: ["../../server/app.ts", "../../process/log.ts", "undici"],
    allowed: ["../errors.ts", "./sqlite/store.ts", "pg", "kysely"],
  },
  [`${server}/evaluation/x.ts`]: {
    refused: ["../features/flags/flags.ts", "../server/app.ts", "undici", "pg"],
    allowed: ["../writes/change.ts", "../platform/auth/principal.ts", "@halyard/core/flag"],
  },
  [`${server}/writes/x.ts`]: {
    refused: ["../evaluation/snapshots.ts", "../server/app.ts", "undici", "pg"],
    allowed: ["../platform/errors.ts", "@halyard/core/flag"],
  },
  [`${server}/features/segments/x.ts`]: {
    refused: ["../flags/flags.ts", "../webhooks/queries.ts", "../../server/app.ts", "undici", "pg"],
    allowed: ["../history/past.ts", "../../writes/change.ts", "../../evaluation/snapshots.ts"],
  },
  [`${server}/features/webhooks/sending/x.ts`]: {
    refused: ["../../flags/flags.ts", "../../../process/log.ts", "pg"],
    allowed: ["../webhook.ts", "../../history/history.ts", "undici", "node:net"],
  },
  [`${server}/process/x.ts`]: {
    refused: ["undici", "pg", "@halyard/mcp"],
    allowed: ["../server.ts", "../platform/errors.ts", "node:cluster", "pino"],
  },
  "packages/sdk/src/client/x.ts": {
    refused: ["@halyard/server", "node:crypto", "../browser-client/x.ts", "../../../core/src/x.ts"],
    allowed: ["../transport/timing.ts", "@halyard/core/flag"],
  },
  "packages/cli/src/terminal/x.ts": {
    refused: ["../commands/flags/read.ts", "../../../server/src/main.ts", "../../test/x.ts"],
    allowed: ["./output.ts", "@halyard/sdk", "node:util"],
  },
  "packages/dashboard/src/x.ts": {
    refused: ["@halyard/server", "@halyard/cli", "node:fs", "../test/x.ts"],
    allowed: ["@halyard/sdk", "react", "./api.ts"],
  },
};

for (const [file, { refused, allowed }] of Object.entries(cases)) {
  test(`what ${file} may import`, () => {
    for (const name of refused) {
      const [breach, ...more] = breachesOf({ [file]: importing(name) });
      assert.match(breach ?? "", new RegExp(`^${file} may not import `), name);
      assert.equal(more.length, 0, name);
    }
    for (const name of allowed) assert.deepEqual(breachesOf({ [file]: importing(name) }), [], name);
  });
}

test("an import over several lines, of types, without names and at run time is seen", () => {
  const file = `${server}/writes/x.ts`;
  for (const text of [
    'import {\n  a,\n  b,\n} from "undici";\n',
    'import type { A } from "undici";\n',
    'import "undici";\n',
    'export { a } from "undici";\n',
    'export const load = () => import("undici");\n',
  ]) {
    assert.equal(breachesOf({ [file]: text }).length, 1, text);
  }
});

test("a file outside every room", () => {
  assert.match(breachesOf({ "packages/sdk/src/nowhere/x.ts": "" })[0] ?? "", /is in no room/);
});
