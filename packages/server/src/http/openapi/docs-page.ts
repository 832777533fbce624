// /docs: the page that shows the description of the API. Its files are in memory once, however many read them.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from "fastify";
import { isFresh } from "../request/conditional.ts";

const folder = new URL("./static/", import.meta.resolve("@fastify/swagger-ui"));

/** The files of the folder that the page needs; nothing else of it is served. */
const types: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "index.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "swagger-ui-standalone-preset.js": "text/javascript; charset=utf-8",
  "favicon-16x16.png": "image/png",
  "favicon-32x32.png": "image/png",
};

/** Read by its first request: few servers are ever asked for them. */
const files = new Map<string, Buffer>();
const readOnce = (name: string): Buffer => {
  const bytes = files.get(name) ?? readFileSync(fileURLToPath(new URL(name, folder)));
  files.set(name, bytes);
  return bytes;
};

const sendFile =
  (tag: string): RouteHandlerMethod =>
  (request, reply) => {
    const { "*": name = "" } = request.params as { "*"?: string };
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) return reply.callNotFound();
    // The files change with the version of the server.
    reply.header("etag", `"${tag}"`).header("cache-control", "public, no-cache");
    return isFresh(request, tag) ? reply.code(304).send() : reply.type(type).send(readOnce(name));
  };

export interface Description {
  readonly json: (reply: FastifyReply) => FastifyReply;
  readonly yaml: (reply: FastifyReply) => FastifyReply;
}

export const docsPage = async (
  app: FastifyInstance,
  { json, yaml }: Description,
  version: string,
): Promise<void> => {
  /** In the place of the package's own, which read a file or write the description anew for each request. */
  const handlers: Readonly<Record<string, RouteHandlerMethod>> = {
    "/docs/static/*": sendFile(version),
    "/docs/json": (_request, reply) => json(reply),
    "/docs/yaml": (_request, reply) => yaml(reply),
  };
  await app.register(async (docs) => {
    docs.addHook("onRoute", (route) => {
      route.handler = handlers[route.url] ?? route.handler;
    });
    await docs.register(swaggerUi, {
      routePrefix: "/docs",
      // Nothing from elsewhere, and no upgrade to https: the page also has to work where the server speaks plain http.
      staticCSP: {
        "default-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "img-src": "'self' data:",
        "object-src": "'none'",
      },
      theme: { title: "Halyard API" },
      uiConfig: {
        layout: "BaseLayout",
        docExpansion: "list",
        defaultModelsExpandDepth: 0,
        tryItOutEnabled: false,
      },
    });
  });
};
