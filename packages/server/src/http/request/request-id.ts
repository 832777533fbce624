// Names each request: by what the client calls it, when that can stand in a log, or by a name of our own.
import type { IncomingMessage } from "node:http";

let requests = 0;
const processTag = Math.random().toString(36).slice(2, 8);
const newRequestId = (): string => {
  requests += 1;
  return `req-${processTag}-${requests.toString(36)}`;
};

export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers["x-request-id"];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newRequestId();
};
