// `at` and `revision`: reads of an environment as it was.
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { moment, momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import type { When } from "./past.ts";

export const pastParameters = {
  at: Type.Optional(
    moment("As it was at this time: after the last change that was made then or before."),
  ),
  revision: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "As it was at this revision of the environment, instead of `at`.",
      "x-must-be": "a revision of the environment",
    }),
  ),
};

/** Of routes without other parameters. */
export const pastQuery = closedObject(pastParameters);

export interface PastQuery {
  readonly at?: string | undefined;
  readonly revision?: number | undefined;
}

/** Undefined when it is about now. */
export const whenOf = ({ at, revision }: PastQuery): Result<When | undefined> => {
  if (at === undefined) return ok(revision === undefined ? undefined : { revision });
  if (revision !== undefined) return invalid("revision", "must not be given together with at");
  const time = readMoment(at);
  return time ? ok({ at: time }) : invalid("at", `must be ${momentRule}`);
};

/** What was read as it was has a revision. */
export interface MaybePast {
  readonly revision?: number;
}

/** The revision that `at` meant; nothing when it is about now. */
export const tellRevision = (reply: FastifyReply, revision: number | undefined): void => {
  if (revision !== undefined) reply.header("x-halyard-revision", revision);
};
