// /ofrep/v1/evaluate: the values of flags by the OpenFeature Remote Evaluation Protocol, from memory alone.
import { Turn } from "@halyard/core/targeting/turn";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { EventTokens } from "../../platform/auth/event-token.ts";
import { ok } from "../../platform/errors.ts";
import { jsonType, keyRefused, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { isJsonCharset } from "../../platform/http/errors/json-body.ts";
import { sendNotModified } from "../../platform/http/request/conditional.ts";
import { allowPages } from "../../platform/http/request/cors.ts";
import type { ChangeFeed } from "../change-feed.ts";
import type { LongEvaluations } from "../long-evaluations.ts";
import type { Snapshots } from "../snapshots.ts";
import { answerOne, type EvaluationRecords, mayExplain } from "./answers.ts";
import { evaluateAll } from "./bulk-answer.ts";
import { clientIsNewer, parseEvaluationRequest } from "./request.ts";
import { bulkSchema, singleSchema } from "./schemas.ts";

export interface EvaluationDependencies extends EvaluationRecords {
  readonly snapshots: Snapshots;
  readonly feed: Pick<ChangeFeed, "catchUpSoon">;
  readonly eventTokens: EventTokens;
  readonly longEvaluations: LongEvaluations;
  /** Where clients reach this server; taken from each request when it is not set. */
  readonly publicUrl: string | undefined;
}

type Asking = FastifyRequest<{
  Params: { key: string; "*": string };
  Body: Buffer | undefined;
  Querystring: Readonly<Record<string, unknown>>;
}>;

const send = (reply: FastifyReply, status: number, body: string): FastifyReply =>
  allowPages(reply).code(status).type(jsonType).send(body);

/** What the client called this server, when that can be an address at all. */
const calledAs = ({ protocol, host }: FastifyRequest): string | undefined =>
  /^[\w.:[\]-]+$/.test(host) ? `${protocol === "https" ? "https" : "http"}://${host}` : undefined;

export const evaluationRoutes = (
  app: FastifyInstance,
  dependencies: EvaluationDependencies,
): void => {
  const { snapshots, feed, eventTokens, publicUrl, contextSample, longEvaluations } = dependencies;

  // The schemas only describe: what is wrong with a body is told with the protocol's own codes.
  app.setValidatorCompiler(() => () => true);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (isJsonCharset(request.headers["content-type"])) done(null, body);
    else done(Object.assign(new Error(), { code: "FST_ERR_CTP_INVALID_MEDIA_TYPE" }));
  });

  const config = { permission: "flags.evaluate", unlimited: true } as const;
  const evaluateOne = (key: string, request: Asking, reply: FastifyReply): FastifyReply => {
    // A deleted environment takes its keys with it.
    const { principal } = request.auth;
    const snapshot = snapshots.get(principal.environment.id);
    if (!snapshot) return sendFailure(reply, keyRefused);
    const { status, body } = answerOne(snapshot, key, request.body, principal, dependencies);
    return send(reply, status, body);
  };
  app.post("/evaluate/flags/:key", { config, schema: singleSchema }, (request: Asking, reply) =>
    evaluateOne(request.params.key, request, reply),
  );
  // A key that was not encoded: no flag has one with a slash.
  app.post("/evaluate/flags/*", { config, schema: { hide: true } }, (request: Asking, reply) =>
    evaluateOne(request.params["*"], request, reply),
  );

  const evaluateFlags = async (request: Asking, reply: FastifyReply): Promise<FastifyReply> => {
    const asked = parseEvaluationRequest(request.body);
    if (!asked.ok) return send(reply, 400, JSON.stringify(asked.error));
    const { principal } = request.auth;
    if (clientIsNewer(request.query, snapshots.get(principal.environment.id))) {
      await feed.catchUpSoon();
    }
    const found = snapshots.get(principal.environment.id);
    const turn =
      found && longEvaluations.isLong(found)
        ? await longEvaluations.decideAll(found, asked.context)
        : new Turn();
    const snapshot = snapshots.get(principal.environment.id);
    if (!snapshot) return sendFailure(reply, keyRefused);
    contextSample.offer(snapshot.environmentId, asked.context, principal.role === "client");
    const base = publicUrl ?? calledAs(request);
    const streamUrl = base && `${base}/ofrep/v1/events?token=${eventTokens.eventToken(principal)}`;
    const { tag, body } = evaluateAll(
      snapshot,
      asked.context,
      streamUrl,
      mayExplain(principal),
      dependencies,
      snapshot === found ? turn : new Turn(),
    );
    if (sendNotModified(request, allowPages(reply), tag)) return reply;
    return send(reply, 200, body);
  };
  app.post("/evaluate/flags", { config, schema: bulkSchema }, async (request: Asking, reply) => {
    const snapshot = snapshots.get(request.auth.principal.environment.id);
    if (!snapshot || !longEvaluations.isLong(snapshot)) return evaluateFlags(request, reply);
    const evaluated = await longEvaluations.inTurn(snapshot, async () =>
      // The connection has ended, so no client waits for the response.
      ok(request.socket.destroyed ? reply : await evaluateFlags(request, reply)),
    );
    return evaluated.ok ? reply : sendFailure(reply, evaluated.failure);
  });
};
