// /openfeature/v0/manifest: flags as the OpenFeature command line pulls and pushes them.
import type { FlagValue } from "@halyard/core/evaluate";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FlagReads } from "../../../evaluation/flag-reads.ts";
import { may } from "../../../platform/auth/principal.ts";
import type { Failure, Result } from "../../../platform/errors.ts";
import { jsonType, sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { route } from "../../../platform/http/openapi/describe.ts";
import { type ChangeQuery, callerOf } from "../../../platform/http/openapi/reason.ts";
import type { FlagPath } from "../../../platform/http/openapi/schemas.ts";
import type { VersionedFlag } from "../../../writes/change.ts";
import type { History } from "../../history/history.ts";
import type { Flags } from "../flags.ts";
import { type ManifestEntry, toCreate, toManifest, toPatch } from "./manifest.ts";
import { createSchema, deleteSchema, manifestSchema, replaceSchema } from "./schemas.ts";

export interface ManifestDependencies {
  readonly flags: Flags;
  readonly flagReads: FlagReads;
  readonly history: History;
}

/** Between the read of a flag and its change somebody else was faster; the API knows no preconditions. */
const toldAsConflict = (failure: Failure): Failure =>
  failure.code === "PRECONDITION_FAILED"
    ? { code: "CONFLICT", message: "The flag was changed at the same time; try again." }
    : failure;

const send = (
  { auth }: FastifyRequest,
  reply: FastifyReply,
  body: object,
  status = 200,
): FastifyReply =>
  reply
    .code(status)
    .header(
      "x-manifest-capabilities",
      may(auth.principal, "flags.write") ? "read,write,delete" : "read",
    )
    .type(jsonType)
    .send(JSON.stringify(body));

export const manifestRoutes = (
  app: FastifyInstance,
  { flags, flagReads, history }: ManifestDependencies,
): void => {
  const sendWritten = async (
    request: FastifyRequest,
    reply: FastifyReply,
    result: Result<VersionedFlag>,
    status: number,
  ): Promise<FastifyReply> => {
    if (!result.ok) return sendFailure(reply, toldAsConflict(result.failure));
    const { key } = result.value.flag;
    const { environment } = request.auth.principal;
    const changes = await history.ofFlag(environment, key, { limit: 1 });
    // History need not be kept for as long as the flag.
    const at = (changes.ok ? changes.value.entries[0]?.at : undefined) ?? new Date();
    const body = { flag: toManifest(result.value), updatedAt: at.toISOString() };
    return send(request, reply, body, status);
  };

  app.get(
    "/manifest",
    route("flags.read", manifestSchema, { large: "always" }),
    async (request, reply) => {
      const found = await flagReads.list(request.auth.principal.environment);
      if (!found.ok) return sendFailure(reply, found.failure);
      return send(request, reply, {
        flags: found.value.all().flatMap((one) => toManifest(one) ?? []),
      });
    },
  );

  app.post<{
    Body: ManifestEntry & { readonly defaultValue: FlagValue };
    Querystring: ChangeQuery;
  }>("/manifest/flags", route("flags.write", createSchema), async (request, reply) => {
    const asked = toCreate(request.body);
    if (!asked.ok) return sendFailure(reply, asked.failure);
    const caller = callerOf(request.auth.principal, request.query);
    const { result } = await flags.create(caller, asked.value);
    return sendWritten(request, reply, result, 201);
  });

  app.put<{ Params: FlagPath; Body: ManifestEntry; Querystring: ChangeQuery }>(
    "/manifest/flags/:key",
    route("flags.write", replaceSchema),
    async (request, reply) => {
      const { params, body, query, auth } = request;
      const found = await flagReads.get(auth.principal.environment, params.key);
      if (!found.ok) return sendFailure(reply, found.failure);
      const patch = toPatch(found.value, body);
      if (!patch.ok) return sendFailure(reply, patch.failure);
      const caller = callerOf(auth.principal, query);
      const seen = [String(found.value.version)];
      const patched = await flags.patch(caller, params.key, patch.value, seen);
      return sendWritten(request, reply, patched, 200);
    },
  );

  app.delete<{ Params: FlagPath; Querystring: ChangeQuery }>(
    "/manifest/flags/:key",
    route("flags.write", deleteSchema),
    async (request, reply) => {
      const { params, query, auth } = request;
      const caller = callerOf(auth.principal, query);
      const removed = await flags.remove(caller, params.key, undefined);
      if (!removed.ok) return sendFailure(reply, removed.failure);
      const message = `The flag "${params.key}" was deleted.`;
      return send(request, reply, { message, archivedAt: null });
    },
  );
};
