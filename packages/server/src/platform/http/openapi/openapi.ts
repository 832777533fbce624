// /openapi.json and /docs: the description of the API, made when it is first asked for.
import type { FastifyInstance, RouteOptions } from "fastify";
import { version } from "../../../version.ts";
import { docsPage } from "./docs-page.ts";
import type { Description } from "./document.ts";

/** Describes the routes that are made after this call. */
export const describeApi = (app: FastifyInstance): void => {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    if (route.method !== "HEAD") routes.push(route);
  });
  const write = async (): Promise<Description> => {
    const { describeRoutes } = await import("./document.ts");
    return describeRoutes(routes, app.getSchemas());
  };
  /** Written once: the same bytes go to everyone. */
  let written: Promise<Description> | undefined;
  const describe = (): Promise<Description> => {
    written ??= write().catch((error) => {
      written = undefined;
      throw error;
    });
    return written;
  };
  docsPage(app, describe, version);
};
