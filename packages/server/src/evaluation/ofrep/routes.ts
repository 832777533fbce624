// /ofrep/v1/evaluate: the values of flags by the OpenFeature Remote Evaluation Protocol, from memory alone.
import { Turn } from "@halyard/core/targeting/turn";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { EventTokens } from "../../platform/auth/event-token.ts";
import { fail, ok, type Result } from "../../platform/errors.ts";
import { keyRefused } from "../../platform/http/errors/error-reply.ts";
import { freshnessHeaders, isFresh } from "../../platform/http/request/conditional.ts";
import type { ChangeFeed } from "../change-feed.ts";
import type { LongEvaluations } from "../long-evaluations.ts";
import type { Snapshots } from "../snapshots.ts";
import { answerAll, answerOne, type EvaluationRecords } from "./answers.ts";
import type { Direct, DirectResponse } from "./direct.ts";
import { clientIsNewer, parseEvaluationRequest } from "./request.ts";
import { bulkSchema, singleSchema } from "./schemas.ts";

export interface EvaluationDependencies extends EvaluationRecords {
  readonly snapshots: Snapshots;
  readonly feed: Pick<ChangeFeed, "catchUpSoon">;
  readonly eventTokens: EventTokens;
  readonly longEvaluations: LongEvaluations;
  readonly direct: Direct;
  /** Where clients reach this server; taken from each request when it is not set. */
  readonly publicUrl: string | undefined;
}

type Asking = FastifyRequest<{
  Params: { key: string; "*": string };
  Querystring: Readonly<Record<string, unknown>>;
}>;

/** What the client called this server, when that can be an address at all. */
const calledAs = ({ protocol, host }: FastifyRequest): string | undefined =>
  /^[\w.:[\]-]+$/.test(host) ? `${protocol === "https" ? "https" : "http"}://${host}` : undefined;

export const evaluationRoutes = (
  app: FastifyInstance,
  dependencies: EvaluationDependencies,
): void => {
  const { snapshots, feed, eventTokens, publicUrl, contextSample } = dependencies;
  const { longEvaluations, direct } = dependencies;
  const config = { permission: "flags.evaluate", unlimited: true } as const;

  const evaluateOne = (
    key: string,
    { auth: { principal } }: Asking,
    body: Buffer | undefined,
  ): Result<DirectResponse> => {
    // A deleted environment takes its keys with it.
    const snapshot = snapshots.get(principal.environment.id);
    return snapshot
      ? ok(answerOne(snapshot, key, body, principal, dependencies))
      : fail(keyRefused);
  };
  app.post("/evaluate/flags/:key", {
    config,
    schema: singleSchema,
    ...direct<Asking>((request, body) => evaluateOne(request.params.key, request, body)),
  });
  // A key that was not encoded: no flag has one with a slash.
  app.post("/evaluate/flags/*", {
    config,
    schema: { hide: true },
    ...direct<Asking>((request, body) => evaluateOne(request.params["*"], request, body)),
  });

  const evaluateAll = async (
    request: Asking,
    requestBody: Buffer | undefined,
  ): Promise<Result<DirectResponse>> => {
    const asked = parseEvaluationRequest(requestBody);
    if (!asked.ok) return ok({ status: 400, body: JSON.stringify(asked.error) });
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
    if (!snapshot) return fail(keyRefused);
    contextSample.offer(snapshot.environmentId, asked.context, principal.role === "client");
    const base = publicUrl ?? calledAs(request);
    const streamUrl = base && `${base}/ofrep/v1/events?token=${eventTokens.eventToken(principal)}`;
    const { tag, body } = answerAll(
      snapshot,
      asked.context,
      streamUrl,
      principal,
      dependencies,
      snapshot === found ? turn : new Turn(),
    );
    const headers = { etag: `"${tag}"`, ...freshnessHeaders };
    return ok(
      isFresh(request, tag)
        ? { status: 304, headers, body: undefined }
        : { status: 200, headers, body },
    );
  };
  app.post("/evaluate/flags", {
    config,
    schema: bulkSchema,
    ...direct<Asking>((request, body) => {
      const snapshot = snapshots.get(request.auth.principal.environment.id);
      return snapshot && longEvaluations.isLong(snapshot)
        ? longEvaluations.inTurn(snapshot, async () =>
            request.socket.destroyed ? ok(undefined) : evaluateAll(request, body),
          )
        : evaluateAll(request, body);
    }),
  });
};
