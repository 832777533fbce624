// Which room may import what. A room is a folder or file of a package's src; the longest name that fits a file is its room.

/** What a room may import: other rooms of its package (`http/**` with all below), packages, `node:*` or single Node modules. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

const libraries = ["@halyard/core", "fastify", "typebox", "kysely", "node:*"];
const platform = ["platform/**", ...libraries];
const feature = ["writes", "evaluation", ...platform];

const server: Rooms = {
  // The process and the composition root, which know every module.
  "": ["process", "server", "operator", "features/**", ...feature, "pino", "../package.json"],
  process: ["", "server", "operator", "features/**", ...feature, "pino"],
  server: ["", "operator", "process", "features/**", ...feature, "@halyard/mcp", "pino"],
  operator: ["", "process", "features/**", ...feature],

  // A feature may use the listed other features: their use cases and rules, never their queries.
  "features/change-requests": ["features/people", "features/segments", ...feature],
  "features/clients": feature,
  "features/environments": ["features/keys", "features/people", "features/webhooks", ...feature],
  "features/flags": ["features/history", "features/segments", ...feature],
  "features/history": feature,
  "features/keys": ["features/change-requests", "features/people", ...feature],
  "features/people": [...feature, "openid-client", "@zxcvbn-ts/language-common"],
  "features/previews": ["features/change-requests", "features/segments", ...feature],
  "features/segments": ["features/history", ...feature],
  "features/usage": feature,
  "features/webhooks": ["features/history", ...feature, "undici", "ipaddr.js"],

  writes: ["features/**", ...platform],
  evaluation: ["writes", ...platform, "@grpc/grpc-js"],

  // The store still lists the queries of all features.
  "platform/database": ["features/**", "evaluation", "writes", ...platform, "pg"],
  platform: [
    ...["", "evaluation", "writes", "features/webhooks", ...platform],
    ...["@fastify/swagger", "@fastify/swagger-ui", "ajv", "ipaddr.js", "prom-client"],
    "@opentelemetry/api",
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
  edge: ["client", "environment-stream", "details.ts", "flag-types.ts", ...sdkTransport],
  management: [...sdkTransport],
  plan: ["management", ...sdkTransport],
  webhooks: ["management", ...sdkTransport],
  openfeature: [
    ...["client", "browser-client", "details.ts", "flag-types.ts", ...sdkTransport],
    ...["@openfeature/core", "@openfeature/server-sdk", "@openfeature/web-sdk"],
  ],
};

const mcpTools = ["tool-result.ts", "dependencies.ts", "entries.ts", "operations.ts"];
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
