// Which room may import what. A room is a folder or file of a package's src; the longest name that fits a file is its room.

/** What a room may import: other rooms of its package (`http/**` with all below), packages, `node:*` or single Node modules. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

const values = ["domain", "errors.ts", "@halyard/core"];
const useCases = ["ports.ts", "text-hash.ts", ...values];
const surface = [
  ...["http/streams", "http/auth", "http/openapi", "http/errors", "http/request"],
  ...["management", "evaluation", "access", "providers", "telemetry", ...useCases, "fastify"],
  "typebox",
];
const database = ["store/schema", "store/secrets", ...useCases, "kysely"];

const server: Rooms = {
  "index.ts": ["main.ts", "process", "compose", "config", "version.ts", ...values],
  "main.ts": ["process", "compose", "config"],
  "version.ts": ["../package.json"],
  "installation.ts": ["@fastify/swagger-ui", "node:url"],
  "errors.ts": [],
  "text-hash.ts": ["node:crypto"],
  "ports.ts": ["domain", "@halyard/core"],
  domain: ["errors.ts", "text-hash.ts", "@halyard/core", "ipaddr.js"],
  config: ["domain", "errors.ts", "@halyard/core/webhook-signature", "node:*"],
  process: [
    ...[
      "compose",
      "config",
      "management",
      "evaluation",
      "telemetry",
      "errors.ts",
      "installation.ts",
    ],
    ...["pino", "node:*"],
  ],
  compose: [
    ...["config", "http/**", "grpc", "management", "evaluation", "access", "providers", "delivery"],
    ...["telemetry", "store/**", "version.ts", "installation.ts", ...useCases],
    ...["fastify", "pino", "node:*"],
  ],
  management: [...useCases, "node:crypto", "node:timers/promises"],
  evaluation: [...useCases, "node:crypto", "node:timers/promises"],
  access: ["evaluation", ...useCases, "@zxcvbn-ts/language-common", "node:crypto"],
  providers: [...useCases, "openid-client"],
  delivery: [...useCases, "undici", "node:crypto", "node:net"],
  telemetry: [
    ...useCases,
    ...["prom-client", "@opentelemetry/api", "node:async_hooks", "node:timers/promises"],
  ],
  grpc: [
    ...["http/streams", "http/auth", "http/errors", "access", "evaluation", "telemetry"],
    ...[...useCases, "@grpc/grpc-js", "node:*"],
  ],
  http: [
    ...["http/fast-path", "http/api", "http/ofrep", "http/flagd", "http/openfeature", "http/mcp"],
    ...["http/dashboard", "http/operations", "http/load", ...surface, "node:*"],
  ],
  "http/fast-path": ["http/ofrep", "http/api", "http/load", ...surface, "node:*"],
  "http/api": [...surface, "node:*"],
  "http/ofrep": [...surface, "node:*"],
  "http/openfeature": [...surface],
  "http/flagd": [...surface],
  "http/dashboard": ["http/dashboard/sign-in", ...surface, "node:*"],
  "http/dashboard/sign-in": [...surface],
  "http/operations": [...surface, "node:*"],
  "http/mcp": [...surface, "@halyard/mcp"],
  "http/streams": [
    ...["http/errors", "http/request", "evaluation", "telemetry", ...values],
    ...["fastify", "node:*"],
  ],
  "http/auth": [
    ...["http/errors", "http/request", "access", "evaluation", ...useCases],
    ...["fastify", "ipaddr.js", "node:*"],
  ],
  "http/load": ["http/request", "domain", "errors.ts", "node:*"],
  "http/openapi": [
    ...["http/errors", "http/request", "version.ts", "installation.ts", ...values],
    ...["@fastify/swagger", "fastify", "typebox", "node:*"],
  ],
  "http/errors": ["http/load", "http/request", "errors.ts", "ajv", "fastify", "node:*"],
  "http/request": ["telemetry", ...values, "fastify", "node:*"],
  "store/schema": ["domain", "errors.ts", "@halyard/core", "kysely"],
  "store/secrets": ["store/schema", "errors.ts", "@halyard/core", "kysely", "node:*"],
  "store/history": [...database],
  "store/outbox": ["store/history", ...database, "node:crypto"],
  "store/people": ["store/outbox", ...database, "node:crypto"],
  "store/environments": [...database],
  "store/sql": [
    ...["store/history", "store/outbox", "store/people", "store/environments"],
    ...["store/transactions", ...database],
  ],
  "store/transactions": ["store/schema", "errors.ts", "kysely"],
  "store/sqlite": ["store/sql", ...database, "node:*"],
  "store/postgres": ["store/sql", "store/transactions", ...database, "pg", "node:*"],
  "store/maintenance": [
    ...["store/sqlite", "store/postgres", "store/sql", "store/history", "store/people"],
    ...[...database, "typebox", "node:*"],
  ],
};

const core: Rooms = { "": [] };

const sdkTransport = ["transport", "@halyard/core"];
const sdk: Rooms = {
  "index.ts": ["client", "details.ts", "flag-types.ts", "tracking.ts", ...sdkTransport],
  "browser.ts": ["browser-client", "details.ts", "flag-types.ts", "tracking.ts", ...sdkTransport],
  "edge.ts": ["edge", "client", "details.ts", ...sdkTransport],
  "management.ts": ["management", ...sdkTransport],
  "webhooks.ts": ["webhooks", "management"],
  "details.ts": ["@halyard/core"],
  "flag-types.ts": ["@halyard/core"],
  "frozen-copy.ts": [],
  "tracking.ts": ["details.ts", ...sdkTransport],
  transport: ["details.ts", "@halyard/core"],
  "environment-stream": sdkTransport,
  client: [
    "environment-stream",
    "details.ts",
    "flag-types.ts",
    "frozen-copy.ts",
    "tracking.ts",
    ...sdkTransport,
  ],
  "browser-client": [
    "details.ts",
    "flag-types.ts",
    "frozen-copy.ts",
    "tracking.ts",
    ...sdkTransport,
  ],
  edge: ["client", "environment-stream", "details.ts", ...sdkTransport],
  management: [...sdkTransport],
  plan: ["management", ...sdkTransport],
  webhooks: ["management", ...sdkTransport],
  openfeature: [
    ...["client", "browser-client", "details.ts", "flag-types.ts", ...sdkTransport],
    ...["@openfeature/core", "@openfeature/server-sdk", "@openfeature/web-sdk"],
  ],
};

const mcpTools = ["answer.ts", "dependencies.ts", "entries.ts", "operations.ts"];
const mcpAnywhere = ["@halyard/sdk", "@halyard/core", "@modelcontextprotocol/server", "zod"];
const mcp: Rooms = {
  "": ["tools", "plan", ...mcpAnywhere, "node:crypto"],
  tools: ["plan", ...mcpTools, ...mcpAnywhere],
  plan: [...mcpTools, ...mcpAnywhere, "node:crypto", "node:zlib"],
};

const anywhere = ["@halyard/sdk", "@halyard/core", "node:*", "commander", "yaml"];
const cli: Rooms = {
  "": ["commands", "completion", "terminal", "server-connection", ...anywhere, "@halyard/server"],
  terminal: [...anywhere, "@halyard/server/errors"],
  "server-connection": ["terminal", ...anywhere],
  completion: ["terminal", ...anywhere],
  doctor: ["terminal", "server-connection", ...anywhere, "@halyard/server"],
  "flags-file": ["terminal", "server-connection", ...anywhere],
  "flags-file/importers": ["flags-file", "terminal", ...anywhere],
  "flags-file/plan": [
    "flags-file",
    "flags-file/importers",
    "terminal",
    "server-connection",
    ...anywhere,
  ],
  "operator.ts": ["terminal", "server-connection", ...anywhere, "@halyard/server"],
  commands: [
    ...["commands", "flags-file", "flags-file/importers", "flags-file/plan", "doctor"],
    ...["completion", "terminal", "server-connection", "operator.ts", "program-frame.ts"],
    ...[...anywhere, "@halyard/server", "@halyard/mcp"],
  ],
};

const dashboard: Rooms = {
  "": [
    ...["@halyard/sdk", "@halyard/core", "react", "react-dom", "wouter", "@mantine", "@tanstack"],
    // The code that authenticator apps scan.
    "lean-qr",
    // Receivers that people copy come from the guide; snippets name the packages of OpenFeature.
    ...["../../../docs/webhooks.md?raw", "@openfeature"],
  ],
};

export const packages: Readonly<Record<string, Rooms>> = {
  core,
  server,
  sdk,
  mcp,
  cli,
  dashboard,
};
