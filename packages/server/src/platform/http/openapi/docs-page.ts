// /openapi.json, and /docs: the page that shows it. Its files are in memory once, however many read them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { referenceFolder } from "../../../installation.ts";
import { isFresh } from "../request/conditional.ts";
import type { Description } from "./document.ts";

const style = "text/css; charset=utf-8";
const script = "text/javascript; charset=utf-8";

/** What the page loads; nothing else of the folder is served. */
const types: Readonly<Record<string, string>> = {
  "start.js": script,
  "swagger-ui.css": style,
  "index.css": style,
  "swagger-ui-bundle.js": script,
  "favicon-32x32.png": "image/png",
};

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>Halyard API</title>
<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/index.css">
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png" sizes="32x32">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: "/docs/json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: false,
  validatorUrl: null,
});
`;

/** Nothing from elsewhere, and no upgrade to https: the page also has to work where the server speaks plain http. */
const policy = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "object-src 'none'",
].join("; ");

/** Read by its first request: few servers are ever asked for them. */
const files = new Map([["start.js", Buffer.from(start)]]);
const readOnce = (name: string): Buffer => {
  const bytes = files.get(name) ?? readFileSync(join(referenceFolder, name));
  files.set(name, bytes);
  return bytes;
};

const hidden = { schema: { hide: true } } as const;

export const docsPage = (
  app: FastifyInstance,
  describe: () => Promise<Description>,
  version: string,
): void => {
  const send = (reply: FastifyReply, type: string, bytes: Buffer): FastifyReply =>
    reply.header("cache-control", "no-cache").type(type).send(bytes);
  const sendJson = async (reply: FastifyReply): Promise<FastifyReply> =>
    send(reply, "application/json; charset=utf-8", (await describe()).json);
  app.get("/openapi.json", hidden, (_request, reply) => sendJson(reply));
  const guarded = (reply: FastifyReply) => reply.header("content-security-policy", policy);
  for (const path of ["/docs", "/docs/"]) {
    app.get(path, hidden, (_request, reply) =>
      guarded(reply).type("text/html; charset=utf-8").send(page),
    );
  }
  app.get("/docs/json", hidden, (_request, reply) => sendJson(guarded(reply)));
  app.get("/docs/yaml", hidden, async (_request, reply) =>
    send(guarded(reply), "application/x-yaml", (await describe()).yaml()),
  );
  app.get<{ Params: { "*": string } }>("/docs/static/*", hidden, (request, reply) => {
    const name = request.params["*"];
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) return reply.callNotFound();
    // The files change with the version of the server.
    guarded(reply).header("etag", `"${version}"`).header("cache-control", "public, no-cache");
    return isFresh(request, version)
      ? reply.code(304).send()
      : reply.type(type).send(readOnce(name));
  });
};
