// Refused requests in the log: the first few of a minute with all that is known, of the others their number.
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { createCappedLog } from "./capped-log.ts";
import { whoOf } from "./who.ts";

/** The id in the text of a key, which is no secret; undefined when it has none. */
const keyIdIn = ({ headers }: FastifyRequest): string | undefined => {
  const text = `${headers.authorization ?? ""} ${String(headers["x-api-key"] ?? "")}`;
  return /\bhal_([0-9a-f]{16})_/.exec(text)?.[1];
};

export const createFailureLog = (log: FastifyBaseLogger, now: () => number) => {
  const failed = createCappedLog(log, now, [
    "failed authentication",
    "failed authentications without a line of their own",
  ]);
  const forbidden = createCappedLog(
    log,
    now,
    ["denied", "denied requests without a line of their own"],
    { mostLines: 60, always: { audit: "access.denied" } },
  );
  const about = ({ id: reqId, method, ip: address }: FastifyRequest, route: string) => ({
    reqId,
    method,
    route,
    address,
  });

  return {
    /** Nobody knows who it was. */
    failed(request: FastifyRequest, route: string): void {
      failed.warn(() => {
        const keyId = keyIdIn(request);
        return { ...about(request, route), ...(keyId !== undefined && { keyId }) };
      });
    },
    /** For the audit log: somebody has tried what they may not do. */
    forbidden(request: FastifyRequest, route: string): void {
      forbidden.warn(() => ({ ...about(request, route), ...whoOf(request) }));
    },
  };
};
