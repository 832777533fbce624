// Refused requests in the log: the first few of a minute with all that is known, of the others their number.
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { whoOf } from "./who.ts";

const minute = 60_000;
/** Lines a minute: enough to see who it is, too few to fill a disk. */
const mostLines = { failed: 10, forbidden: 60 } as const;

/** The id in the text of a key, which is no secret; undefined when it has none. */
const keyIdIn = ({ headers }: FastifyRequest): string | undefined => {
  const text = `${headers.authorization ?? ""} ${String(headers["x-api-key"] ?? "")}`;
  return /\bhal_([0-9a-f]{16})_/.exec(text)?.[1];
};

/** The first `most` lines of a minute, and then how many more there were. */
const limitLines = (most: number, now: () => number, sayMore: (more: number) => void) => {
  let endsAt = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  const sum = (): void => {
    clearTimeout(timer);
    const more = count - most;
    count = 0;
    endsAt = 0;
    if (more > 0) sayMore(more);
  };

  return (write: () => void): void => {
    if (now() >= endsAt) {
      sum();
      endsAt = now() + minute;
    }
    count += 1;
    // The number of the others comes also when nobody is refused any more.
    if (count === most + 1) timer = setTimeout(sum, endsAt - now()).unref();
    if (count <= most) write();
  };
};

export const createFailureLog = (log: FastifyBaseLogger, now: () => number) => {
  const failed = limitLines(mostLines.failed, now, (more) => {
    log.warn({ more }, "failed authentications without a line of their own");
  });
  const forbidden = limitLines(mostLines.forbidden, now, (more) => {
    log.warn({ audit: "access.denied", more }, "denied requests without a line of their own");
  });
  const about = ({ id: reqId, method, ip: address }: FastifyRequest, route: string) => ({
    reqId,
    method,
    route,
    address,
  });

  return {
    /** Nobody knows who it was. */
    failed(request: FastifyRequest, route: string): void {
      failed(() => {
        const keyId = keyIdIn(request);
        const fields = { ...about(request, route), ...(keyId !== undefined && { keyId }) };
        log.warn(fields, "failed authentication");
      });
    },
    /** For the audit log: somebody has tried what they may not do. */
    forbidden(request: FastifyRequest, route: string): void {
      forbidden(() => {
        const fields = { audit: "access.denied", ...about(request, route), ...whoOf(request) };
        log.warn(fields, "denied");
      });
    },
  };
};
