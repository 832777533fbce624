// Failed authentications in the log: the first few of a minute with all that is known, of the others their number.
import type { FastifyBaseLogger, FastifyRequest } from "fastify";

const minute = 60_000;
/** Lines a minute: enough to see who it is, too few to fill a disk. */
const mostLines = 10;

/** The id in the text of a key, which is no secret; undefined when it has none. */
const keyIdIn = ({ headers }: FastifyRequest): string | undefined => {
  const text = `${headers.authorization ?? ""} ${String(headers["x-api-key"] ?? "")}`;
  return /\bhal_([0-9a-f]{16})_/.exec(text)?.[1];
};

export const createFailureLog = (log: FastifyBaseLogger, now: () => number) => {
  let endsAt = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  const sum = (): void => {
    clearTimeout(timer);
    const more = count - mostLines;
    count = 0;
    endsAt = 0;
    if (more > 0) log.warn({ more }, "failed authentications without a line of their own");
  };

  return {
    failed(request: FastifyRequest, route: string): void {
      if (now() >= endsAt) {
        sum();
        endsAt = now() + minute;
      }
      count += 1;
      // The number of the others comes also when nobody fails any more.
      if (count === mostLines + 1) timer = setTimeout(sum, endsAt - now()).unref();
      if (count > mostLines) return;
      const { method, ip: address } = request;
      const keyId = keyIdIn(request);
      log.warn(
        { reqId: request.id, method, route, address, ...(keyId !== undefined && { keyId }) },
        "failed authentication",
      );
    },
  };
};
