// /openapi.json, made from the route schemas.
import swagger from "@fastify/swagger";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isForPeople, leastRole, rolesOf } from "../../domain/principal.ts";
import { version } from "../../version.ts";
import { completeDocument } from "./complete-document.ts";
import { docsPage } from "./docs-page.ts";

const introduction = `Flags per environment, and signed webhooks on every change.

Every request carries an API key, as \`Authorization: Bearer <API_KEY>\` or \`X-API-Key: <API_KEY>\`. The key decides the
environment, and its role what it may do: \`client\` evaluates, \`server\` reads too, \`editor\` changes flags and
segments, \`admin\` does everything in the environment, and \`owner\` manages people and environments. Every operation
names its permission and the roles that have it, in \`x-permission\` and \`x-roles\`.

Every error has the body \`{"error": "<CODE>", "message": "<sentence>"}\`, but for \`/ofrep\` and \`/openfeature\`, whose
protocols have their own.`;

export const describeApi = async (app: FastifyInstance): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Halyard", version, description: introduction, license: { name: "MIT" } },
      servers: [{ url: "/", description: "This server" }],
      tags: [
        { name: "Flags", description: "Read and change the flags of the key's environment." },
        { name: "Segments", description: "Named groups of people, for the rules of flags." },
        {
          name: "Change requests",
          description: "What another person approves before it is made, in protected environments.",
        },
        {
          name: "Evaluation",
          description: "Evaluation for programs, by the OpenFeature Remote Evaluation Protocol.",
        },
        {
          name: "Manifest",
          description: "Flags for the OpenFeature command line, which generates typed accessors.",
        },
        { name: "Programs", description: "Which programs have a change." },
        { name: "Webhooks", description: "Signed callbacks on every change." },
        { name: "History", description: "Who changed what, and when." },
        { name: "Keys", description: "The API keys of the key's environment." },
        { name: "Environments", description: "Create, label, protect, copy and delete them." },
        { name: "People", description: "Who has an account, and what they may do where." },
        { name: "Health", description: "For operators and load balancers. No key needed." },
      ],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer" },
          apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
          session: {
            type: "apiKey",
            in: "cookie",
            name: "halyard_session",
            description:
              "The dashboard's own session, with the headers X-Halyard-Environment and X-Halyard-CSRF.",
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) =>
        typeof json.$id === "string" ? json.$id : `schema-${index}`,
    },
    transformObject: (described) =>
      "openapiObject" in described
        ? completeDocument(described.openapiObject)
        : described.swaggerObject,
    transform: ({ schema, url, route }) => {
      const permission = route.config?.permission;
      const role = permission && leastRole(permission);
      return {
        url,
        schema: {
          ...schema,
          ...(role
            ? {
                security: isForPeople(permission)
                  ? [{ session: [] }]
                  : [{ bearer: [] }, { apiKey: [] }],
                description: `${schema?.description ?? ""}\n\nNeeds the role \`${role}\`.`.trim(),
                "x-role": role,
                "x-permission": permission,
                "x-roles": rolesOf(permission),
              }
            : {}),
        },
      };
    },
  });
  /** Written once: the same bytes go to everyone. */
  const written = (type: string, write: () => string) => {
    let bytes: Buffer | undefined;
    return (reply: FastifyReply): FastifyReply => {
      bytes ??= Buffer.from(write());
      return reply.header("cache-control", "no-cache").type(type).send(bytes);
    };
  };
  const json = written("application/json; charset=utf-8", () => JSON.stringify(app.swagger()));
  const yaml = written("application/x-yaml", () => app.swagger({ yaml: true }));
  app.get("/openapi.json", { schema: { hide: true } }, (_request, reply) => json(reply));
  docsPage(app, { json, yaml }, version);
};
