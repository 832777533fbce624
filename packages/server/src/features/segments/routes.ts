// /segments: named groups of people that the rules of flags refer to.
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { segmentJson } from "../../evaluation/streams/snapshot-json.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { proposed } from "../../platform/http/openapi/proposed.ts";
import {
  type ChangeQuery,
  callerOf,
  changeQuery,
  withoutReason,
} from "../../platform/http/openapi/reason.ts";
import {
  freshnessHeader,
  idempotencyHeader,
  preconditionHeader,
} from "../../platform/http/openapi/schemas.ts";
import { ifMatch, sendNotModified } from "../../platform/http/request/conditional.ts";
import type { VersionedSegment } from "../../writes/change.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import { type PastQuery, pastQuery, tellRevision, whenOf } from "../history/past-parameters.ts";
import type { AsItWas } from "../history/past-reads.ts";
import type { CreateSegment, PatchSegment } from "./rules.ts";
import {
  createSegmentSchema,
  membersSchema,
  patchSegmentSchema,
  type SegmentPath,
  SegmentSummary,
  segmentExample,
  segmentPath,
  segmentReference,
  summaryExample,
} from "./schemas.ts";
import type { Segments } from "./segments.ts";

const tags = ["Segments"];

const Precondition = preconditionHeader("segment");

const send = (reply: FastifyReply, { segment, version }: VersionedSegment, status = 200) =>
  reply.code(status).header("etag", `"${version}"`).type(jsonType).send(JSON.stringify(segment));

const changed = {
  ...proposed,
  200: {
    description: "The segment as it is now, without its members.",
    schema: SegmentSummary,
    example: summaryExample,
    headers: headers.segmentTag,
  },
};

export const segmentRoutes = (app: FastifyInstance, segments: Segments, past: AsItWas): void => {
  app.get<{ Querystring: PastQuery }>(
    "/segments",
    route(
      "segments.read",
      {
        tags,
        operationId: "listSegments",
        summary: "List segments",
        description:
          "All segments of the environment, sorted by key, with counts of their members. With `at` or `revision` as they were then.",
        querystring: pastQuery,
        response: answers(
          {
            200: {
              description: "The segments, without their members.",
              schema: Type.Array(SegmentSummary),
              example: [summaryExample],
              headers: headers.pastRevision,
            },
          },
          "CONFLICT",
        ),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const { environment } = request.auth.principal;
      const show = (list: readonly VersionedSegment[]) =>
        reply.type(jsonType).send(JSON.stringify(list.map(({ segment }) => segment)));
      const when = whenOf(request.query);
      if (!when.ok) return sendFailure(reply, when.failure);
      if (!when.value) {
        const listed = await segments.list(environment);
        return listed.ok ? show(listed.value) : sendFailure(reply, listed.failure);
      }
      const found = await past.segments(environment, when.value);
      if (!found.ok) return sendFailure(reply, found.failure);
      tellRevision(reply, found.value.revision);
      return show(found.value.list);
    },
  );

  app.post<{ Body: CreateSegment; Querystring: ChangeQuery }>(
    "/segments",
    route("segments.write", {
      tags,
      operationId: "createSegment",
      summary: "Create a segment",
      description:
        "Its lists may come along; more than fits into 256 KiB is added in parts with `/segments/{key}/members`.",
      querystring: changeQuery,
      headers: idempotencyHeader,
      body: withoutReason(createSegmentSchema),
      response: answers(
        {
          201: {
            description: "The segment as it was made, without its members.",
            schema: SegmentSummary,
            example: summaryExample,
            headers: { ...headers.segmentTag, ...headers.repeated },
          },
          ...proposed,
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => segments.create(callerOf(caller, request.query), request.body, once),
        (segment) => send(reply, segment, 201),
      ),
  );

  app.get<{ Params: SegmentPath; Querystring: PastQuery }>(
    "/segments/:key",
    route(
      "segments.read",
      {
        tags,
        operationId: "getSegment",
        summary: "Read one segment",
        description:
          "With all its members. With `at` or `revision` as it was then, also when it was deleted since.",
        params: segmentPath,
        querystring: pastQuery,
        headers: freshnessHeader,
        response: answers(
          {
            200: {
              description: "The segment.",
              schema: segmentReference,
              example: segmentExample,
              headers: { ...headers.segmentTag, ...headers.pastRevision },
            },
            304: { description: "It has not changed.", headers: headers.segmentTag },
          },
          "NOT_FOUND",
          "CONFLICT",
        ),
      },
      { large: "past" },
    ),
    async (request, reply) => {
      const { params, query, auth } = request;
      const { environment } = auth.principal;
      const when = whenOf(query);
      if (!when.ok) return sendFailure(reply, when.failure);
      if (when.value) {
        const found = await past.segment(environment, when.value, params.key);
        if (!found.ok) return sendFailure(reply, found.failure);
        const { segment, version, revision } = found.value;
        tellRevision(reply, revision);
        if (sendNotModified(request, reply, version)) return reply;
        return reply.type(jsonType).send(JSON.stringify(segment));
      }
      const found = await segments.get(environment, params.key);
      if (!found.ok) return sendFailure(reply, found.failure);
      if (sendNotModified(request, reply, found.value.version)) return reply;
      return reply.type(jsonType).send(segmentJson(found.value));
    },
  );

  app.patch<{ Params: SegmentPath; Body: PatchSegment; Querystring: ChangeQuery }>(
    "/segments/:key",
    route("segments.write", {
      tags,
      operationId: "updateSegment",
      summary: "Change a segment",
      description:
        "Only the fields given, each of them whole. A change that changes nothing makes no event and no new version.",
      params: segmentPath,
      querystring: changeQuery,
      headers: Precondition,
      body: withoutReason(patchSegmentSchema),
      response: answers(changed, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED", ...withBody),
    }),
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, body, auth, query } = request;
      const caller = callerOf(auth.principal, query);
      const patched = await segments.patch(caller, params.key, body, precondition.value);
      return patched.ok ? send(reply, patched.value) : sendFailure(reply, patched.failure);
    },
  );

  app.post<{ Params: SegmentPath; Body: MembersRequest; Querystring: ChangeQuery }>(
    "/segments/:key/members",
    route("segments.write", {
      tags,
      operationId: "changeSegmentMembers",
      summary: "Add and remove members of a segment",
      description:
        "In parts, for lists of any length up to 100,000. What is in the list already, or is not, is passed over, so a part may be sent again.",
      params: segmentPath,
      querystring: changeQuery,
      headers: Type.Object({ ...Precondition.properties, ...idempotencyHeader.properties }),
      body: withoutReason(membersSchema),
      response: answers(changed, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED", ...withBody),
    }),
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, body, query } = request;
      return replyIdempotently(
        request,
        reply,
        (principal, once) => {
          const caller = callerOf(principal, query);
          return segments.changeMembers(caller, params.key, body, precondition.value, once);
        },
        (segment) => send(reply, segment),
      );
    },
  );

  app.get<{ Params: SegmentPath }>(
    "/segments/:key/flags",
    route(
      "segments.read",
      {
        tags,
        operationId: "listSegmentFlags",
        summary: "List the flags that name a segment",
        params: segmentPath,
        response: answers(
          {
            200: {
              description: "The flags, sorted by key, with the rules in which they name it.",
              schema: Type.Array(
                Type.Object({
                  key: Type.String(),
                  rules: Type.Array(Type.String(), { description: "Ids of rules." }),
                }),
              ),
              example: [{ key: "new-checkout", rules: ["beta"] }],
            },
          },
          "NOT_FOUND",
        ),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const found = await segments.uses(request.auth.principal.environment, request.params.key);
      return found.ok
        ? reply.type(jsonType).send(JSON.stringify(found.value))
        : sendFailure(reply, found.failure);
    },
  );

  app.delete<{ Params: SegmentPath; Querystring: ChangeQuery }>(
    "/segments/:key",
    route("segments.write", {
      tags,
      operationId: "deleteSegment",
      summary: "Delete a segment",
      description: "Not while a flag names it: the answer lists the flags.",
      params: segmentPath,
      querystring: changeQuery,
      headers: Precondition,
      response: answers(
        { 204: { description: "It is gone." }, ...proposed },
        "NOT_FOUND",
        "CONFLICT",
        "PRECONDITION_FAILED",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, auth, query } = request;
      const caller = callerOf(auth.principal, query);
      const removed = await segments.remove(caller, params.key, precondition.value);
      return removed.ok ? reply.code(204).send() : sendFailure(reply, removed.failure);
    },
  );
};
