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
  [`${server}/errors.ts`]: {
    refused: ["./domain/change.ts", "./ports.ts", "node:fs"],
    allowed: [],
  },
  [`${server}/ports.ts`]: {
    refused: ["./store/sqlite/store.ts", "./config/config.ts", "node:fs", "kysely"],
    allowed: ["./domain/change.ts"],
  },
  [`${server}/domain/x.ts`]: {
    refused: ["../ports.ts", "../management/flags.ts", "../http/app.ts", "node:crypto", "kysely"],
    allowed: ["../errors.ts", "./change.ts", "@halyard/core/flag"],
  },
  [`${server}/management/x.ts`]: {
    refused: [
      ...["../evaluation/snapshots.ts", "../delivery/worker.ts", "../store/sql/store.ts"],
      ...["../http/app.ts", "../config/config.ts", "fastify", "kysely", "node:fs"],
    ],
    allowed: ["../domain/change.ts", "../errors.ts", "../ports.ts", "./flags.ts"],
  },
  [`${server}/delivery/x.ts`]: {
    refused: ["../management/flags.ts", "../evaluation/snapshots.ts", "node:fs/promises", "pg"],
    allowed: ["../ports.ts", "undici", "node:net"],
  },
  [`${server}/telemetry/x.ts`]: {
    refused: ["../delivery/worker.ts", "../store/sql/store.ts", "pino", "node:http"],
    allowed: ["../ports.ts", "prom-client"],
  },
  [`${server}/store/sql/x.ts`]: {
    refused: ["../sqlite/store.ts", "../postgres/store.ts", "../../management/flags.ts", "undici"],
    allowed: ["../schema/tables.ts", "../../ports.ts", "kysely"],
  },
  [`${server}/store/schema/x.ts`]: {
    refused: ["../sql/reader.ts", "../outbox/claim.ts", "node:fs"],
    allowed: ["./tables.ts", "kysely"],
  },
  [`${server}/http/api/x.ts`]: {
    refused: ["../ofrep/routes.ts", "../app.ts", "../../store/sql/store.ts", "kysely", "undici"],
    allowed: ["../auth/authenticate.ts", "../../management/flags.ts", "fastify"],
  },
  [`${server}/http/request/x.ts`]: {
    refused: ["../errors/error-reply.ts", "../auth/authenticate.ts", "../../management/flags.ts"],
    allowed: ["../../telemetry/http-meter.ts", "fastify"],
  },
  [`${server}/process/x.ts`]: {
    refused: ["../http/app.ts", "../store/sql/store.ts", "../delivery/worker.ts", "kysely"],
    allowed: ["../compose/server.ts", "../config/config.ts", "node:cluster"],
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
  const file = `${server}/domain/x.ts`;
  for (const text of [
    'import {\n  a,\n  b,\n} from "kysely";\n',
    'import type { A } from "kysely";\n',
    'import "kysely";\n',
    'export { a } from "kysely";\n',
    'export const load = () => import("kysely");\n',
  ]) {
    assert.equal(breachesOf({ [file]: text }).length, 1, text);
  }
});

test("a file outside every room", () => {
  assert.match(breachesOf({ [`${server}/nowhere/x.ts`]: "" })[0] ?? "", /is in no room/);
});
