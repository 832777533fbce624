// /history/export and /history/verification: the history with its hashes, and whether it verifies.
import type { ExportLine } from "@halyard/core/history/chain";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { may, type Principal } from "../../platform/auth/principal.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import { closedObject, nullable, pageParameters } from "../../platform/http/openapi/schemas.ts";
import { badCursor, cursorFor, decodeCursor, sendNextLink } from "../../platform/http/paging.ts";
import type { ChainPart } from "../../writes/history-entry.ts";
import type { Verification, Verified } from "./verification.ts";

const linesType = "application/x-ndjson";

const Query = closedObject({ cursor: pageParameters.cursor });

const Problem = closedObject({
  id: nullable<number>("integer", "The number of the entry; null for what concerns none."),
  createdAt: nullable<string>("string", "When the entry says that it was made."),
  message: Type.String({ description: "What is wrong." }),
});

const hash = "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b";

const Body = closedObject({
  environment: Type.String(),
  verified: Type.Boolean({ description: "Whether no problem was found." }),
  head: Type.String({
    description: "The chain at the last entry, as the newest event carries it.",
  }),
  entries: Type.Integer({ description: "How many entries there are." }),
  pruned: Type.Integer({ description: "How many were deleted after their retention." }),
  prunedUntil: nullable<string>("string", "The time of the newest of those; null without any."),
  redacted: Type.Array(Type.Integer(), {
    description: "The numbers of the entries in which a person's name was replaced.",
  }),
  unchained: Type.Integer({
    description:
      "How many entries at the end are not part of the chain, because something other than Halyard wrote them.",
  }),
  problems: Type.Array(Problem, { description: "The first 20." }),
  problemCount: Type.Integer({ description: "How many there are." }),
  verifiedAt: Type.String({ description: "When, ISO 8601 in UTC." }),
});

const isoOf = (time: number | null): string | null => {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
};

const show = (found: Verified) => {
  // The server has its keys, so no signature is left unchecked.
  const { problems, prunedUntil, verifiedAt, uncheckedSignatures: _, ...verified } = found;
  return {
    ...verified,
    verified: verified.problemCount === 0,
    prunedUntil: isoOf(prunedUntil),
    problems: problems.map(({ id, at, message }) => ({ id, createdAt: isoOf(at), message })),
    verifiedAt: verifiedAt.toISOString(),
  };
};

/** Those who do not see the addresses of webhooks get their digests, which are enough to verify them. */
const shownTo =
  (principal: Pick<Principal, "role">) =>
  (line: ExportLine): ExportLine =>
    line.type === "entry" && line.subject === "webhook" && !may(principal, "webhooks.write")
      ? { ...line, before: null, after: null }
      : line;

const notice =
  "Digests do not hide what they cover: a reader who guesses a redacted name, or the hidden path of a webhook, can confirm the guess.";

const linesOf = ({ environment, parts, next, head }: ChainPart, after: number): ExportLine[] => [
  ...(after === 0 ? [{ type: "history" as const, format: 1 as const, environment, notice }] : []),
  ...parts,
  ...(next === undefined ? [{ type: "end" as const, head }] : []),
];

const exampleLines: readonly ExportLine[] = [
  { type: "history", format: 1, environment: "production", notice },
  { type: "end", head: hash },
];
const textOf = (lines: readonly ExportLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

export const historyExportRoutes = (app: FastifyInstance, verification: Verification): void => {
  app.get<{ Querystring: Static<typeof Query> }>(
    "/history/export",
    route(
      "history.read",
      {
        tags: ["History"],
        operationId: "exportHistory",
        summary: "Export the history with its hashes",
        description:
          "JSON lines, oldest first, in parts: follow the Link until there is none, and put the parts one after the other. `halyard history verify --file` and conformance/verify-history.py verify them without the server; conformance/README.md describes every line. The `before` and `after` of webhooks are null for those who cannot change webhooks: their digests are there, and confirm a correct guess.",
        querystring: Query,
        response: answers({
          200: {
            description: "A part of the history.",
            text: { type: linesType, example: textOf(exampleLines) },
            headers: headers.next,
          },
        }),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const { cursor } = request.query;
      const after = cursor === undefined ? "0" : decodeCursor(cursor);
      if (!/^\d{1,15}$/.test(after)) return sendFailure(reply, badCursor);
      const { principal } = request.auth;
      const part = await verification.part(principal.environment, Number(after));
      if (!part.ok) return sendFailure(reply, part.failure);
      const { next } = part.value;
      if (next !== undefined) sendNextLink(request, reply, cursorFor(String(next)));
      const lines = linesOf(part.value, Number(after)).map(shownTo(principal));
      return reply.type(linesType).send(textOf(lines));
    },
  );

  app.get(
    "/history/verification",
    route(
      "history.read",
      {
        tags: ["History"],
        operationId: "verifyHistory",
        summary: "Verify the history",
        description:
          "The server walks the chain of hashes from the first entry to the head, with the signatures of checkpoints, and says where it breaks. What it found is told again for ten seconds, while nothing changes. It is the server's own word: to verify it yourself, use the export.",
        response: answers({
          200: {
            description: "What was found.",
            schema: Body,
            example: {
              environment: "production",
              verified: true,
              head: hash,
              entries: 812,
              pruned: 0,
              prunedUntil: null,
              redacted: [],
              unchained: 0,
              problems: [],
              problemCount: 0,
              verifiedAt: "2026-11-14T12:00:00.000Z",
            },
          },
        }),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const found = await verification.verify(request.auth.principal.environment);
      return found.ok ? reply.send(show(found.value)) : sendFailure(reply, found.failure);
    },
  );
};
