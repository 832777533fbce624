// /metrics: for the one that scrapes them, known by its token or by coming from this very machine.
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { Failure } from "../errors.ts";
import type { Exposition } from "../telemetry/exposition.ts";
import { sendFailure } from "./errors/error-reply.ts";

export interface MetricsDependencies {
  readonly metricsToken: string | undefined;
  /** Undefined when they cannot be had now. */
  readonly metrics: () => Promise<Exposition | undefined>;
  /** Failed authentications, by address. */
  readonly failures: RateLimit;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const isLoopback = (address: string): boolean =>
  /^(::ffff:)?127\./.test(address) || address === "::1";

/** A name that only this machine can mean, so that no page of a browser can come by another. */
const isLocalName = (host: string): boolean => {
  const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return name === "localhost" || (isIP(name) !== 0 && isLoopback(name));
};

const forwarding = ["x-forwarded-for", "x-forwarded-host", "x-real-ip", "forwarded", "via"];

/** What a proxy on this machine hands on comes from elsewhere. */
const isFromHere = ({ raw, headers }: FastifyRequest): boolean =>
  isLoopback(raw.socket.remoteAddress ?? "") &&
  isLocalName(headers.host ?? "") &&
  !forwarding.some((name) => headers[name] !== undefined);

const notFromHere: Failure = {
  code: "FORBIDDEN",
  message:
    "Metrics are served to this machine only; set HALYARD_METRICS_TOKEN and send it as Authorization: Bearer <token>.",
};
const badToken: Failure = {
  code: "UNAUTHORIZED",
  message: "Metrics need the token of HALYARD_METRICS_TOKEN, as Authorization: Bearer <token>.",
};

export const metricsRoute = (app: FastifyInstance, dependencies: MetricsDependencies): void => {
  const { metricsToken, metrics, failures } = dependencies;
  const wanted = metricsToken === undefined ? undefined : digest(metricsToken);

  const isToken = ({ headers }: FastifyRequest, expected: Buffer): boolean => {
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
    return timingSafeEqual(digest(given), expected);
  };

  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (wanted && !isToken(request, wanted)) {
      // Only now: a neighbour's failures behind one address do not lock out who has the token.
      const wait = failures.waiting(request.ip);
      if (wait !== undefined) {
        return sendFailure(reply.header("retry-after", wait), {
          code: "RATE_LIMITED",
          message: `Too many failed authentications from this address; try again in ${wait} s.`,
        });
      }
      failures.take(request.ip);
      return sendFailure(reply, badToken);
    }
    if (!wanted && !isFromHere(request)) return sendFailure(reply, notFromHere);
    const exposition = await metrics();
    if (!exposition) {
      return sendFailure(reply, {
        code: "UNAVAILABLE",
        message: "Not all workers have reported their metrics in time; try again.",
      });
    }
    return reply.type(exposition.contentType).send(exposition.text);
  });
};
