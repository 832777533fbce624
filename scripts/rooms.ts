// Which room may import what. A room is a folder or file of a package's src; the longest name that fits a file is its room.

/** What a room may import: other rooms of its package (`http/**` with all below), packages, `node:*` or single Node modules. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

const platform = ["platform/**"];
const libraries = ["@halyard/core", "fastify", "typebox", "kysely", "node:*"];
const feature = ["writes", "evaluation", ...platform, ...libraries];

const server: Rooms = {
  // The process, and what the command line imports.
  "": ["process", "server", "operator", "features/**", ...feature, "pino", "../package.json"],
  process: [
    "",
    "operator",
    "features/**",
    "evaluation",
    ...platform,
    "@halyard/core",
    "pino",
    "node:*",
  ],
  operator: ["", "process", "features/**", "writes", ...platform, "@halyard/core", "node:*"],
  server: ["", "operator", "process", "features/**", ...feature, "@halyard/mcp", "pino"],

  "features/flags": ["features/change-requests", "features/history", ...feature],
  "features/segments": [
    "features/flags",
    "features/change-requests",
    "features/history",
    ...feature,
  ],
  "features/change-requests": [
    "features/flags",
    "features/segments",
    "features/people",
    ...feature,
  ],
  "features/environments": [
    ...["features/change-requests", "features/keys", "features/people", "features/previews"],
    ...["features/webhooks", ...feature],
  ],
  "features/keys": ["features/change-requests", "features/environments", ...feature],
  "features/people": [...feature, "openid-client", "@zxcvbn-ts/language-common"],
  "features/webhooks": ["features/history", ...feature, "undici", "ipaddr.js"],
  "features/history": ["features/flags", ...feature],
  "features/previews": ["features/change-requests", "features/segments", ...feature],
  "features/clients": feature,
  "features/usage": ["features/history", ...feature],

  writes: ["features/**", ...platform, "@halyard/core"],
  evaluation: ["features/**", "writes", ...platform, ...libraries, "@grpc/grpc-js"],
  "platform/database": ["features/**", "evaluation", "writes", ...platform, ...libraries, "pg"],
  "platform/http": [
    "",
    "features/**",
    "writes",
    ...platform,
    ...libraries,
    "@fastify/swagger",
    "@fastify/swagger-ui",
    "ajv",
  ],
  "platform/auth": ["features/**", "evaluation", "writes", ...platform, ...libraries, "ipaddr.js"],
  "platform/telemetry": [
    "features/**",
    "evaluation",
    "writes",
    ...platform,
    "@opentelemetry/api",
    "prom-client",
    "node:*",
  ],
  platform: ["features/**", "@fastify/swagger-ui", "node:*"],
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
