// /environments: list them for those who may use them; create, change and delete them as an owner.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AuthContext } from "../../platform/auth/authenticate.ts";
import type { ApiKeyCache } from "../../platform/auth/key-cache.ts";
import type { Role } from "../../platform/auth/principal.ts";
import type { Session, Sessions } from "../../platform/auth/sessions.ts";
import type { Environment } from "../../platform/environments.ts";
import { invalid, ok } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { proposed } from "../../platform/http/openapi/proposed.ts";
import { callerOf, type ReasonQuery, reasonQuery } from "../../platform/http/openapi/reason.ts";
import { idempotencyHeader } from "../../platform/http/openapi/schemas.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { Environments } from "./environments.ts";
import { readLifetime, shownSettings } from "./rules.ts";
import {
  ClosedBody,
  CreateBody,
  CreatedBody,
  DeleteQuery,
  EnvironmentBody,
  environmentExample,
  NamePath,
  PatchBody,
} from "./schemas.ts";

export interface EnvironmentRouteDependencies {
  readonly environments: Environments;
  readonly keyCache: Pick<ApiKeyCache, "accessOf">;
  /** Undefined when there is no dashboard. */
  readonly sessions: Sessions | undefined;
}

const tags = ["Environments"];
const show = (environment: Environment, role: Role) => ({
  name: environment.name,
  ...shownSettings(environment),
  createdAt: environment.createdAt.toISOString(),
  flags: environment.flagCount,
  role,
});

/** What a body sets, or what is wrong with its times. */
const changeOf = ({ label, protected: isProtected, expiresAt, maxFlips }: PatchBody) => {
  const expiry = expiresAt == null ? expiresAt : (readMoment(expiresAt) ?? Number.NaN);
  if (typeof expiry === "number") return invalid("expiresAt", `must be ${momentRule}, or null`);
  return ok({
    ...(label !== undefined && { label }),
    ...(isProtected !== undefined && { isProtected }),
    ...(expiry !== undefined && { expiresAt: expiry }),
    ...(maxFlips !== undefined && { maxFlips }),
  });
};

const wantedOf = ({ name, copyOf, expiresIn, ...rest }: CreateBody) => {
  if (expiresIn !== undefined && rest.expiresAt != null) {
    return invalid("expiresIn", "takes the place of expiresAt: give one of them");
  }
  const lifetime = expiresIn === undefined ? undefined : readLifetime(expiresIn);
  const change = changeOf(rest);
  if (!change.ok) return change;
  return ok({
    name,
    ...change.value,
    ...(lifetime !== undefined && { lifetime }),
    ...(copyOf !== undefined && { copyOf }),
  });
};

export const environmentRoutes = (
  app: FastifyInstance,
  { environments, keyCache, sessions }: EnvironmentRouteDependencies,
): void => {
  /** The caller's role in an environment; undefined where they have none. */
  const roleIn = ({ principal, session }: AuthContext) => {
    const everywhere = principal.role === "owner" ? principal.role : undefined;
    const access = session?.userId == null ? [principal] : keyCache.accessOf(session.userId);
    const byId = new Map(access.map(({ environment, role }) => [environment.id, role]));
    return ({ id }: Environment): Role | undefined => everywhere ?? byId.get(id);
  };

  const visible = async (auth: AuthContext) => {
    const role = roleIn(auth);
    return (await environments.list()).flatMap((environment) => {
      const own = role(environment);
      return own === undefined ? [] : [show(environment, own)];
    });
  };

  /** Whoever has signed in with keys or by a link can use the new environment at once. */
  const addToSession = async (session: Session | undefined, keyId: string): Promise<void> => {
    const current = session && sessions && (await sessions.find(session.token));
    if (!current || current.userId !== null || current.keyIds.includes(keyId)) return;
    const { keyIds, link } = current;
    await sessions.keep(current, {
      keyIds: [...keyIds, keyId],
      link: link && { ...link, created: [...link.created, keyId] },
    });
  };

  app.get(
    "/environments",
    route("environments.read", {
      tags,
      operationId: "listEnvironments",
      summary: "List environments",
      description:
        "Those that the caller has access to: a key has its own, a person those in which they have a role, an owner all.",
      response: answers({
        200: {
          description: "The environments, by name.",
          schema: Type.Array(EnvironmentBody),
          example: [environmentExample],
        },
      }),
    }),
    (request) => visible(request.auth),
  );

  app.post<{ Body: CreateBody }>(
    "/environments",
    route("environments.write", {
      tags,
      operationId: "createEnvironment",
      summary: "Create an environment",
      description:
        "Empty, or with `copyOf` with the flags and segments of another, as they are at one moment. Its first admin key is in this answer and nowhere else. With `expiresIn` or `expiresAt` it is deleted at that time with everything in it.",
      headers: idempotencyHeader,
      body: {
        ...CreateBody,
        examples: [{ name: "pr-123", copyOf: "production", expiresIn: "7d" }],
      },
      response: answers(
        {
          201: {
            description: "The environment, and its first key.",
            schema: CreatedBody,
            example: {
              ...environmentExample,
              key: { id: "9f86d081884c7d65", key: "hal_9f86d081884c7d65_<secret>" },
            },
            headers: headers.repeated,
          },
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const wanted = wantedOf(request.body);
      if (!wanted.ok) return sendFailure(reply, wanted.failure);
      const { session } = request.auth;
      return replyIdempotently(
        request,
        reply,
        async (caller, once) => {
          const made = await environments.createWithKey(caller, wanted.value, { once });
          if (made.result.ok) await addToSession(session, made.result.value.key.apiKey.id);
          return made;
        },
        ({ environment, key }) =>
          reply.code(201).send({
            ...show(environment, "owner"),
            key: { id: key.apiKey.id, key: key.text },
          }),
      );
    },
  );

  app.patch<{ Params: NamePath; Body: PatchBody; Querystring: ReasonQuery }>(
    "/environments/:name",
    route("environments.write", {
      tags,
      operationId: "updateEnvironment",
      summary: "Change an environment",
      description:
        "Its label, whether it is protected, its limit on flips, and when it expires. Its name stays. Taking the protection off is proposed, in a request of its own: another person approves it.",
      params: NamePath,
      querystring: reasonQuery,
      body: { ...PatchBody, examples: [{ label: "Staging (Europe)" }] },
      response: answers(
        {
          200: {
            description: "The environment.",
            schema: EnvironmentBody,
            example: environmentExample,
          },
          ...proposed,
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const change = changeOf(request.body);
      if (!change.ok) return sendFailure(reply, change.failure);
      const caller = callerOf(request.auth.principal, request.query);
      const changed = await environments.update(caller, request.params.name, change.value);
      return changed.ok
        ? reply.send(show(changed.value, "owner"))
        : sendFailure(reply, changed.failure);
    },
  );

  app.delete<{ Params: NamePath; Querystring: DeleteQuery }>(
    "/environments/:name",
    route("environments.write", {
      tags,
      operationId: "deleteEnvironment",
      summary: "Delete an environment",
      description:
        "With its webhooks, keys and history, and its flags when `flags=true`; refused while it holds flags without that. Its keys end at once. The last environment is deleted by the operator alone.",
      params: NamePath,
      querystring: DeleteQuery,
      response: answers(
        {
          202: {
            description: "It is closed; what is left of it is deleted in the background.",
            schema: ClosedBody,
            example: { name: "staging", state: "deleting" },
          },
          204: { description: "It is deleted." },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const { auth, params, query } = request;
      const removed = await environments.removeFor(
        auth.principal,
        params.name,
        query.flags === "true",
      );
      if (!removed.ok) return sendFailure(reply, removed.failure);
      return removed.value.isGone
        ? reply.code(204).send()
        : reply.code(202).send({ name: params.name, state: "deleting" });
    },
  );
};
