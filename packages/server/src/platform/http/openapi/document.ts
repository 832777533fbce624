// The description of the API, made from the routes and their schemas. Few servers are ever asked for it, so nothing of this is
// loaded before.
import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { fastify, type RouteOptions } from "fastify";
import { version } from "../../../version.ts";
import { isForPeople, leastRole, rolesOf } from "../../auth/principal.ts";
import { schemaController } from "../errors/validation.ts";
import { completeDocument } from "./complete-document.ts";

const introduction = `Flags per environment, and signed webhooks on every change.

Every request carries an API key, as \`Authorization: Bearer <API_KEY>\` or \`X-API-Key: <API_KEY>\`. The key decides the
environment, and its role what it may do: \`client\` evaluates, \`server\` reads too, \`editor\` changes flags and
segments, \`admin\` does everything in the environment, and \`owner\` manages people and environments. Every operation
names its permission and the roles that have it, in \`x-permission\` and \`x-roles\`.

Every error has the body \`{"error": "<CODE>", "message": "<sentence>"}\`, but for \`/ofrep\` and \`/openfeature\`, whose
protocols have their own.`;

const options: FastifyDynamicSwaggerOptions = {
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
};

export interface Description {
  readonly json: Buffer;
  /** Written by the first call. */
  readonly yaml: () => Buffer;
}

/** The plugin describes the routes of an instance that it has seen made: here of one that only lists them. */
export const describeRoutes = async (
  routes: readonly RouteOptions[],
  schemas: Readonly<Record<string, unknown>>,
): Promise<Description> => {
  const listed = fastify({ schemaController, exposeHeadRoutes: false });
  for (const schema of Object.values(schemas)) listed.addSchema(schema);
  await listed.register(swagger, options);
  for (const route of routes) listed.route(route);
  await listed.ready();
  const json = Buffer.from(JSON.stringify(listed.swagger()));
  let yaml: Buffer | undefined;
  return {
    json,
    yaml() {
      yaml ??= Buffer.from(listed.swagger({ yaml: true }));
      return yaml;
    },
  };
};
