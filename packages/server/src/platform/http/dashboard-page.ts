// The dashboard's page and its files: nothing from elsewhere may run in it, and nobody may frame it.
import { createHash, randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DashboardFiles } from "./dashboard-files.ts";
import { accepts } from "./request/compressed.ts";
import { isFresh } from "./request/conditional.ts";

/** Where the page finds itself; `/sign-in` is the session's affair. */
const pagePaths = [
  "/",
  "/flags",
  "/flags/:key",
  "/segments",
  "/segments/:key",
  "/compare",
  "/history",
  "/deleted-flags",
  "/webhooks",
  "/webhooks/:id",
  "/keys",
  "/events",
  "/people",
  "/account",
  "/invitation",
  "/environments/*",
] as const;

/** Stands in index.html where each answer has its own. */
const noncePlaceholder = "__CSP_NONCE__";

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

const notBuilt = `The dashboard of this Halyard is not built.

Run "npm run build" in the project's folder and start it again. The API works without it: see /docs.
`;

export type SendPage = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

const guarded = (reply: FastifyReply): FastifyReply =>
  reply
    .header("referrer-policy", "no-referrer")
    .header("cross-origin-opener-policy", "same-origin")
    .header("cross-origin-resource-policy", "same-origin")
    .header("x-frame-options", "DENY");

export const createSendPage = (files: DashboardFiles | undefined): SendPage => {
  if (!files) {
    return (_request, reply) =>
      guarded(reply).code(503).type("text/plain; charset=utf-8").send(notBuilt);
  }
  const pieces = files.page.split(noncePlaceholder);
  const tag = tagOf(files.page);
  return (request, reply) => {
    guarded(reply).header("etag", `"${tag}"`).header("cache-control", "private, no-cache");
    // Without a policy: the page that the browser has kept goes with the nonce of the policy that it has kept.
    if (isFresh(request, tag)) return reply.code(304).send();
    const nonce = randomBytes(16).toString("base64");
    return reply
      .header("content-security-policy", policy(nonce))
      .type("text/html; charset=utf-8")
      .send(pieces.join(nonce));
  };
};

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  map: "application/json; charset=utf-8",
  png: "image/png",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};
const typeOf = (name: string): string =>
  types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";

/** Made by the build for what gets smaller by it; the smallest first. */
const compressed = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

const tagOf = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 22);

const hidden = { schema: { hide: true } } as const;

/** Where programs expect JSON, whatever they accept. */
const programPaths = /^\/(api|ofrep|assets|sdk|session)(\/|$)/;

/** Whether somebody has followed a link or typed the address: they get a page, not JSON. */
export const isBrowsing = ({ method, url, headers }: FastifyRequest): boolean =>
  method === "GET" &&
  (headers.accept?.includes("text/html") ?? false) &&
  !programPaths.test(url.replace(/\?.*$/s, ""));

export const dashboardRoutes = (
  app: FastifyInstance,
  files: DashboardFiles | undefined,
  sendPage: SendPage,
): void => {
  for (const path of pagePaths) app.get(path, hidden, sendPage);

  app.get<{ Params: { "*": string } }>("/assets/*", hidden, (request, reply) => {
    const name = request.params["*"];
    const path = `assets/${name}`;
    const isCompressed = compressed.some(([, suffix]) => name.endsWith(suffix));
    if (!files?.has(path) || isCompressed) return reply.callNotFound();
    const accepted = request.headers["accept-encoding"];
    const [coding, suffix = ""] =
      compressed.find((each) => files.has(path + each[1]) && accepts(accepted, each[0])) ?? [];
    const bytes = files.read(path + suffix);
    if (!bytes) return reply.callNotFound();
    guarded(reply)
      .header("cache-control", "public, max-age=31536000, immutable")
      .header("vary", "accept-encoding")
      .header("etag", `W/"${name}"`);
    if (isFresh(request, name)) return reply.code(304).send();
    if (coding !== undefined) reply.header("content-encoding", coding);
    return reply.type(typeOf(name)).send(bytes);
  });

  // Without a key: npm sends none, and the code of the SDK is no secret.
  app.get<{ Params: { "*": string } }>("/sdk/*", hidden, (request, reply) => {
    const path = `sdk/${request.params["*"]}`;
    const tarball = files?.has(path) ? files.read(path) : undefined;
    if (!tarball) return reply.callNotFound();
    // Names the content: the file name has only the version, and a version in development changes.
    const tag = tagOf(tarball);
    guarded(reply).header("etag", `"${tag}"`).header("cache-control", "public, no-cache");
    if (isFresh(request, tag)) return reply.code(304).send();
    return reply.type("application/gzip").send(tarball);
  });
};
