// /flagd/v1: the environment as a flagd definition, for flagd's `http` source.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { jsonType, keyRefused, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import { freshnessHeader } from "../../platform/http/openapi/schemas.ts";
import { sendCompressed } from "../../platform/http/request/compressed.ts";
import { sendNotModified } from "../../platform/http/request/conditional.ts";
import type { Snapshots } from "../snapshots.ts";
import type { FlagdDefinitions } from "./definitions.ts";

export interface FlagdDependencies {
  readonly snapshots: Snapshots;
  readonly flagdDefinitions: FlagdDefinitions;
}

const anything = Type.Unsafe<unknown>({ type: "object" });
const Definition = Type.Object({
  metadata: Type.Optional(anything),
  flags: Type.Record(Type.String(), anything),
  $evaluators: Type.Optional(anything),
});

export const flagdRoutes = (
  app: FastifyInstance,
  { snapshots, flagdDefinitions }: FlagdDependencies,
): void => {
  app.get(
    "/flags.json",
    route("flags.follow", {
      tags: ["Evaluation"],
      operationId: "getFlagdDefinition",
      summary: "Read the environment as a flagd definition",
      description:
        "For flagd's `http` source. It decides as Halyard does; flags for which flagd could decide otherwise are left out. From memory, at most moments old. 409 when it would have more than 16 MiB.",
      headers: freshnessHeader,
      response: answers(
        {
          200: {
            description: "The definition.",
            schema: Definition,
            example: {
              metadata: { flagSetId: "production" },
              flags: {
                "new-checkout": {
                  state: "ENABLED",
                  variants: { on: true, off: false },
                  defaultVariant: "on",
                },
              },
            },
            headers: headers.flagd,
          },
          304: { description: "Nothing has changed.", headers: headers.flagd },
        },
        "CONFLICT",
      ),
    }),
    async (request, reply) => {
      const snapshot = snapshots.get(request.auth.principal.environment.id);
      if (!snapshot) return sendFailure(reply, keyRefused);
      const made = await flagdDefinitions.of(snapshot);
      if (!made.ok) return sendFailure(reply, made.failure);
      const { bytes, tag, counts } = made.value;
      reply.header(
        "halyard-flagd-flags",
        Object.entries(counts)
          .map(([name, count]) => `${name}=${count}`)
          .join(", "),
      );
      if (sendNotModified(request, reply, tag)) return reply;
      return sendCompressed(request, reply.type(jsonType), bytes);
    },
  );
};
