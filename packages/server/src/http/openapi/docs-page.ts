// /docs: the page that shows the description of the API. Its files are in memory once, however many read them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { referenceFolder } from "../../installation.ts";
import { isFresh } from "../request/conditional.ts";

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

export interface Description {
  readonly json: (reply: FastifyReply) => FastifyReply;
  readonly yaml: (reply: FastifyReply) => FastifyReply;
}

const hidden = { schema: { hide: true } } as const;

export const docsPage = (
  app: FastifyInstance,
  { json, yaml }: Description,
  version: string,
): void => {
  const guarded = (reply: FastifyReply) => reply.header("content-security-policy", policy);
  for (const path of ["/docs", "/docs/"]) {
    app.get(path, hidden, (_request, reply) =>
      guarded(reply).type("text/html; charset=utf-8").send(page),
    );
  }
  app.get("/docs/json", hidden, (_request, reply) => json(guarded(reply)));
  app.get("/docs/yaml", hidden, (_request, reply) => yaml(guarded(reply)));
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
