// /webhooks/:id/replay: sends a range of events again, shows how far that is, and stops it.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { invalidField } from "../../../platform/errors.ts";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../../platform/http/openapi/describe.ts";
import { moment, momentRule, readMoment } from "../../../platform/http/openapi/moment.ts";
import {
  closedObject,
  idempotencyHeader,
  nullable,
  type WebhookPath,
  webhookPath,
} from "../../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../../platform/http/openapi/string-enum.ts";
import { replyIdempotently } from "../../../writes/idempotent-route.ts";
import { type Replay, type ReplayOutcome, replayStates } from "./replay-rules.ts";
import type { Replays } from "./replays.ts";

const tags = ["Webhooks"];

const ReplayBody = closedObject({
  afterSequence: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Every event with a higher sequence number.",
      "x-must-be": "a whole number, 0 or more",
    }),
  ),
  from: Type.Optional(moment("Every event from this time on.")),
  to: Type.Optional(moment("Every event up to this time.")),
});
const ReplaySchema = closedObject({
  state: stringEnum([...replayStates], {
    description: "`complete` once every event of the range is queued.",
  }),
  replayed: Type.Integer({ description: "How many events are queued so far." }),
  pending: Type.Integer({ description: "How many of them are still to be delivered." }),
  failed: Type.Integer({ description: "How many of them were given up." }),
  throughSequence: nullable<number>("integer", "The last of them; null while there is none."),
  complete: Type.Boolean({ description: "Whether that is the whole range." }),
  reachedSequence: Type.Integer({ description: "Every event up to here has been looked at." }),
  lastSequence: Type.Integer({ description: "Where the range ends." }),
  startedAt: Type.String({ description: "ISO 8601 in UTC." }),
  endedAt: nullable<string>("string", "Null while it is running."),
});

const example = {
  state: "running",
  replayed: 50,
  pending: 12,
  failed: 0,
  throughSequence: 861,
  complete: false,
  reachedSequence: 861,
  lastSequence: 2_304,
  startedAt: "2026-11-14T12:00:00.000Z",
  endedAt: null,
};

const shown = (replay: Replay & ReplayOutcome) => ({
  state: replay.state,
  replayed: replay.replayed,
  pending: replay.pending,
  failed: replay.failed,
  throughSequence: replay.throughSequence,
  complete: replay.state === "complete",
  reachedSequence: replay.reached,
  lastSequence: replay.lastSequence,
  startedAt: replay.startedAt.toISOString(),
  endedAt: replay.endedAt?.toISOString() ?? null,
});

/** The range that is asked for, or what is wrong with it. */
const rangeOf = (body: Static<typeof ReplayBody>) => {
  const times = { from: body.from, to: body.to };
  for (const [field, text] of Object.entries(times)) {
    if (text !== undefined && !readMoment(text)) {
      return invalidField(field, `must be ${momentRule}`);
    }
  }
  if (body.afterSequence === undefined && body.from === undefined && body.to === undefined) {
    return invalidField(
      "afterSequence",
      "is required, or from and to, to say which events are to be sent again",
    );
  }
  if (Date.parse(body.to ?? "") < Date.parse(body.from ?? "")) {
    return invalidField("to", "must not be before from");
  }
  return {
    ...(body.afterSequence !== undefined && { afterSequence: body.afterSequence }),
    ...(body.from !== undefined && { from: new Date(body.from) }),
    ...(body.to !== undefined && { to: new Date(body.to) }),
  };
};

export const replayRangeRoutes = (app: FastifyInstance, replays: Replays): void => {
  const common = { tags, params: webhookPath };

  app.post<{ Params: WebhookPath; Body: Static<typeof ReplayBody> }>(
    "/webhooks/:id/replay",
    route("webhooks.write", {
      ...common,
      operationId: "replayRange",
      summary: "Send a range of events again",
      description:
        "Events of the last 90 days that the webhook is subscribed to, in order per flag; fresh events go first. They are queued in small parts, as the receiver takes them, also after a restart. A webhook has one replay at a time.",
      headers: idempotencyHeader,
      body: { ...ReplayBody, examples: [{ afterSequence: 811 }] },
      response: answers(
        {
          202: {
            description: "It has begun.",
            schema: ReplaySchema,
            example,
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const range = rangeOf(request.body);
      if ("code" in range) return sendFailure(reply, range);
      return replyIdempotently(
        request,
        reply,
        (caller, once) => replays.start(caller, request.params.id, range, once),
        (replay) => reply.code(202).send(shown(replay)),
      );
    },
  );

  app.get<{ Params: WebhookPath }>(
    "/webhooks/:id/replay",
    route("webhooks.read", {
      ...common,
      operationId: "getReplay",
      summary: "Show the progress of a replay",
      description: "The last replay of the webhook, running or not. 404 when it has had none.",
      response: answers(
        { 200: { description: "The replay.", schema: ReplaySchema, example } },
        "NOT_FOUND",
      ),
    }),
    async (request, reply) => {
      const { environment } = request.auth.principal;
      const found = await replays.get(environment, request.params.id);
      return found.ok ? shown(found.value) : sendFailure(reply, found.failure);
    },
  );

  app.delete<{ Params: WebhookPath }>(
    "/webhooks/:id/replay",
    route("webhooks.write", {
      ...common,
      operationId: "stopReplay",
      summary: "Stop a replay",
      description: "What is queued is still sent. A replay that has ended stays as it is.",
      response: answers({ 204: { description: "It is stopped." } }, "NOT_FOUND", ...withBody),
    }),
    async (request, reply) => {
      const { environment } = request.auth.principal;
      const stopped = await replays.stop(environment, request.params.id);
      return stopped.ok ? reply.code(204).send() : sendFailure(reply, stopped.failure);
    },
  );
};
