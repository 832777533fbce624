// Which room may import what: the sentence "imports run downward only", spelt out for checkers.test.ts.

export interface ImportRule {
  /** A file of the room; the star stands for its name. */
  readonly file: string;
  readonly refused: readonly string[];
  readonly allowed: readonly string[];
}

const server = "packages/server/src";
const aboveServices = ["../config.ts", "../compose.ts", "../main.ts", "../http/app.ts"];

export const importRules: readonly ImportRule[] = [
  {
    file: "packages/core/src/*.ts",
    refused: ["node:fs", "node:fs/promises", "node:crypto", "@halyard/server", "fastify", "kysely"],
    allowed: ["./flag.ts", "typebox"],
  },
  {
    file: `${server}/domain/*.ts`,
    refused: [
      ...aboveServices,
      "../ports.ts",
      "../log.ts",
      "../management/flags.ts",
      "../store/sqlite.ts",
      "../delivery/worker.ts",
      "node:crypto",
      "node:fs/promises",
      "kysely",
      "fastify",
      "undici",
      "pino",
    ],
    allowed: ["../errors.ts", "./change.ts", "@halyard/core/flag"],
  },
  ...["management", "evaluation", "delivery"].map((room) => ({
    file: `${server}/${room}/*.ts`,
    refused: [
      ...aboveServices,
      "../log.ts",
      "../store/sqlite.ts",
      ...["management", "evaluation", "delivery"]
        .filter((sibling) => sibling !== room)
        .map((sibling) => `../${sibling}/x.ts`),
      "kysely",
      "fastify",
      "pg",
      "node:sqlite",
      "node:fs",
      "node:fs/promises",
      // Sending is delivery's own work.
      ...(room === "delivery" ? [] : ["node:http", "node:net"]),
    ],
    allowed: ["../domain/change.ts", "../errors.ts", "../ports.ts", "./neighbour.ts"],
  })),
  {
    file: `${server}/telemetry/*.ts`,
    refused: [
      ...aboveServices,
      "../log.ts",
      "../management/flags.ts",
      "../evaluation/snapshots.ts",
      "../delivery/worker.ts",
      "../store/sqlite.ts",
      "kysely",
      "fastify",
      "pino",
      "node:http",
      "node:fs/promises",
    ],
    allowed: ["../domain/change.ts", "../ports.ts", "./timing.ts", "prom-client"],
  },
  {
    file: `${server}/store/*.ts`,
    refused: [
      ...aboveServices,
      "../log.ts",
      "../management/flags.ts",
      "../evaluation/snapshots.ts",
      "../delivery/worker.ts",
      "fastify",
      "undici",
    ],
    allowed: ["../domain/change.ts", "../errors.ts", "../ports.ts", "./tables.ts", "kysely"],
  },
  {
    file: `${server}/store/migrations/*.ts`,
    refused: ["../../http/app.ts", "../../management/flags.ts", "../sqlite.ts", "fastify"],
    allowed: ["../dialect.ts", "../tables.ts", "kysely"],
  },
  {
    file: `${server}/http/*.ts`,
    refused: [
      "../store/sqlite.ts",
      "../delivery/worker.ts",
      "../config.ts",
      "../compose.ts",
      "../main.ts",
      "../process/listening.ts",
      "kysely",
      "pg",
      "node:sqlite",
      "undici",
      "prom-client",
      "@opentelemetry/api",
    ],
    allowed: [
      "../management/flags.ts",
      "../evaluation/snapshots.ts",
      "../telemetry/http-meter.ts",
      "../errors.ts",
      "fastify",
    ],
  },
  {
    file: `${server}/http/routes/*.ts`,
    refused: ["../../store/sqlite.ts", "../../delivery/worker.ts", "../../config.ts", "kysely"],
    allowed: ["../../management/flags.ts", "../schemas.ts", "fastify"],
  },
  {
    file: `${server}/process/*.ts`,
    refused: [
      "../http/app.ts",
      "../evaluation/snapshots.ts",
      "../delivery/worker.ts",
      "../store/sqlite.ts",
      "kysely",
      "fastify",
      "pg",
      "node:sqlite",
    ],
    allowed: ["../compose.ts", "../config.ts", "../errors.ts", "./listening.ts", "node:cluster"],
  },
  {
    file: "packages/dashboard/src/*.ts",
    refused: ["@halyard/server", "@halyard/cli", "node:fs", "node:fs/promises", "../test/x.ts"],
    allowed: ["@halyard/sdk", "react", "./api.ts"],
  },
  {
    file: `${server}/ports.ts`,
    refused: ["./store/sqlite.ts", "./config.ts", "node:fs", "kysely", "fastify"],
    allowed: ["./domain/change.ts"],
  },
  {
    file: `${server}/errors.ts`,
    refused: ["./domain/change.ts", "./ports.ts", "node:fs", "fastify"],
    allowed: ["@halyard/core/flag"],
  },
  {
    file: `${server}/log.ts`,
    refused: ["./config.ts", "./compose.ts", "./http/app.ts", "./store/sqlite.ts", "fastify"],
    allowed: ["./ports.ts", "pino"],
  },
  {
    file: "packages/cli/src/*.ts",
    refused: ["../../server/src/main.ts", "../../core/src/flag.ts", "../test/x.ts"],
    allowed: ["@halyard/server", "commander", "node:util"],
  },
  {
    file: "packages/sdk/src/*.ts",
    refused: ["@halyard/server", "node:crypto", "../../core/src/flag.ts", "../test/x.ts"],
    allowed: ["@halyard/core/flag", "./client.ts"],
  },
];
